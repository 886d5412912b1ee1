'use strict';
const root = document.documentElement;
const stored = () => { try { return localStorage.getItem('ms-migrate-theme'); } catch { return null; } };
const wanted = () => stored()
  || (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light');
root.dataset.theme = wanted();
document.getElementById('theme').addEventListener('click', () => {
  root.dataset.theme = root.dataset.theme === 'dark' ? 'light' : 'dark';
  try { localStorage.setItem('ms-migrate-theme', root.dataset.theme); } catch { /* a file */ }
});
for (const table of document.querySelectorAll('table.sort')) {
  const body = table.tBodies[0], heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, index) => {
    const button = document.createElement('button');
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener('click', () => {
      const down = head.getAttribute('aria-sort') !== 'descending';
      for (const other of heads) other.removeAttribute('aria-sort');
      head.setAttribute('aria-sort', down ? 'descending' : 'ascending');
      const value = row => row.cells[index].dataset.value ?? row.cells[index].textContent.trim();
      const number = text => parseFloat(text.replaceAll(',', ''));
      const sorted = [...body.rows].sort((a, b) => {
        const [x, y] = [value(a), value(b)], [m, n] = [number(x), number(y)];
        return Number.isNaN(m) || Number.isNaN(n) ? y.localeCompare(x) : (n > m) - (n < m);
      });
      body.append(...(down ? sorted : sorted.reverse()));
    });
  });
}
for (const box of document.querySelectorAll('.filter')) {
  const rows = () => document.querySelectorAll(box.dataset.rows);
  const apply = () => {
    const word = box.querySelector('[type=search]').value.toLowerCase();
    const kinds = [...box.querySelectorAll('[data-kind]')];
    const on = new Set(kinds.filter(one => one.checked).map(one => one.dataset.kind));
    for (const row of rows())
      row.hidden = (kinds.length && !on.has(row.dataset.kind))
        || !row.textContent.toLowerCase().includes(word);
  };
  box.addEventListener('input', apply);
}
for (const dot of document.querySelectorAll('svg [data-key]')) {
  const said = dot.closest('figure').querySelector('.said');
  const tell = () => { said.textContent = dot.querySelector('title').textContent; };
  const go = () => {
    const row = document.querySelector(`tr[data-key="${CSS.escape(dot.dataset.key)}"]`);
    if (!row) return;
    row.closest('details').open = true;
    for (const old of document.querySelectorAll('tr.here')) old.classList.remove('here');
    row.classList.add('here');
    row.scrollIntoView({block: 'center'});
  };
  dot.addEventListener('mouseenter', tell);
  dot.addEventListener('focus', tell);
  dot.addEventListener('click', go);
  dot.addEventListener('keydown', event => { if (event.key === 'Enter') go(); });
}
addEventListener('beforeprint', () => {
  for (const one of document.querySelectorAll('details')) one.open = true;
});
