"""The look of the parity page, light and dark, and the script that makes it handy."""

from __future__ import annotations

STYLE = """
:root { color-scheme: light dark; --text: #1c1e21; --dim: #676d75; --line: #e3e5e8; --back: #fff;
  --panel: #f6f7f9; --good: #1a7f4b; --bad: #c4352c; --floor: #2a7fb8; --shade: #2a7fb822;
  --new: #1a7f4b1f; --old: #c4352c1f; }
@media (prefers-color-scheme: dark) { :root { --text: #e6e8ea; --dim: #9aa1a9; --line: #33383e;
  --back: #16181b; --panel: #1e2125; --good: #3fb374; --bad: #f0695f; --floor: #58a9dd;
  --shade: #58a9dd26; --new: #3fb37426; --old: #f0695f26; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 2rem 1.25rem 4rem; max-width: 80rem; background: var(--back);
  color: var(--text); font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.6rem; margin: 0; } h2 { font-size: 1.1rem; margin: 2.25rem 0 .5rem; }
.lead { font-size: 1.15rem; margin: .1rem 0 1rem; max-width: 60rem; }
.good { color: var(--good); } .bad { color: var(--bad); } .dim { color: var(--dim); }
.diagnosis { background: var(--panel); border-left: 4px solid var(--bad); margin: 1.25rem 0;
  padding: .8rem 1.1rem; border-radius: 0 .4rem .4rem 0; }
.diagnosis p { margin: .2rem 0 .5rem; max-width: 62rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .15rem 1rem; margin: .5rem 0 0;
  font-size: .95rem; }
dt { color: var(--dim); } dd { margin: 0; overflow-wrap: anywhere; }
code, pre { font: .92em ui-monospace, Menlo, Consolas, monospace; }
pre { margin: .1rem 0; white-space: pre-wrap; overflow-wrap: anywhere; }
pre.new, pre.old { padding: .15rem .5rem; border-radius: .25rem; }
pre.new { background: var(--new); } pre.old { background: var(--old); }
svg { display: block; width: 100%; height: auto; margin-top: .4rem; }
svg text { font: 12px system-ui, sans-serif; fill: var(--dim); }
svg .grid { stroke: var(--line); } svg .part { stroke: var(--line); stroke-dasharray: 2 3; }
svg .floor { fill: none; stroke: var(--floor); stroke-width: 1.5; }
svg .allowed { fill: var(--shade); }
svg circle.good { fill: var(--good); } svg circle.bad { fill: var(--bad); }
svg circle:hover { stroke: var(--text); stroke-width: 2; cursor: pointer; }
figure { margin: 0; } .paper { overflow-x: auto; }
@media (max-width: 42rem) { svg { min-width: 46rem; } svg text, svg .first { font-size: 19px; } }
svg .ours { fill: none; stroke: var(--good); stroke-width: 3; }
svg .theirs { fill: none; stroke: var(--floor); stroke-width: 3; stroke-dasharray: 7 5; }
svg .first { fill: var(--bad); font-weight: 600; font-size: 14px; }
.said { min-height: 1.5rem; font-size: .92rem; }
.scroll { overflow: auto; max-height: 34rem; border: 1px solid var(--line); border-radius: .4rem;
  margin: .4rem 0; }
table { border-collapse: separate; border-spacing: 0; }
table.wide { width: 100%; font-size: .88rem; }
th { text-align: left; font-weight: 600; color: var(--dim); white-space: nowrap; }
th, td { padding: .28rem .9rem .28rem 0; border-bottom: 1px solid var(--line);
  vertical-align: top; }
.wide thead th { position: sticky; top: 0; background: var(--panel); cursor: pointer; z-index: 1; }
.wide th:first-child, .wide td:first-child { padding-left: .7rem; }
td.number { font-variant-numeric: tabular-nums; white-space: nowrap; }
tr.bad td { color: var(--text); }
tr.bad td:first-child, tr.bad td:nth-child(2) { color: var(--bad); font-weight: 600; }
.wide td:first-child { position: sticky; left: 0; background: var(--back); }
tr.here td { background: var(--shade); }
summary { cursor: pointer; margin-top: .5rem; }
.filter { display: flex; flex-wrap: wrap; gap: .25rem 1.2rem; align-items: center;
  font-size: .92rem; margin-top: .4rem; }
.filter input[type=search] { font: inherit; padding: .2rem .5rem; width: 16rem; max-width: 100%; }
.tree, .tree ul { list-style: none; margin: 0; padding: 0 0 0 1.1rem; font-size: .92rem; }
.tree { padding: 0; } .tree summary { margin: 0; } .tree li { padding: .05rem 0; }
.tree .leaf { padding-left: 1.05rem; }
.tree .mark { display: inline-block; min-width: 5.8rem; text-align: right; margin-right: .6rem;
  font-variant-numeric: tabular-nums; }
.tree .here { background: var(--old); border-radius: .25rem; padding: 0 .3rem; }
@media print { .filter, .said { display: none; } .scroll { max-height: none; } }
"""

SCRIPT = """
for (const table of document.querySelectorAll('table.wide')) {
  const body = table.tBodies[0], box = table.closest('details')?.querySelector('.filter');
  const apply = () => {
    const word = box.querySelector('[type=search]').value.toLowerCase();
    const only = box.querySelector('[type=checkbox]').checked;
    for (const row of body.rows)
      row.hidden = !row.cells[0].textContent.toLowerCase().includes(word)
        || (only && !row.classList.contains('bad'));
  };
  if (box) box.addEventListener('input', apply);
  const order = [...body.rows];
  [...table.tHead.rows[0].cells].forEach((head, index) => head.addEventListener('click', () => {
    const down = head.dataset.down !== '1';
    head.dataset.down = down ? '1' : '';
    const value = row => {
      const text = row.cells[index].textContent, number = parseFloat(text);
      return text === 'exact' ? Infinity : Number.isNaN(number) ? -Infinity : number;
    };
    const rows = index === 0 ? (down ? order : [...order].reverse())
      : [...body.rows].sort((a, b) => down ? value(b) - value(a) : value(a) - value(b));
    body.append(...rows);
  }));
}
for (const dot of document.querySelectorAll('svg circle')) {
  const said = dot.closest('figure')?.querySelector('.said');
  const text = dot.querySelector('title').textContent;
  const tell = () => { said.textContent = text; };
  if (said) { dot.addEventListener('mouseenter', tell); dot.addEventListener('focus', tell); }
  dot.addEventListener('keydown', event => { if (event.key === 'Enter') dot.onclick(); });
  dot.onclick = () => {
    const row = document.querySelector(`tr[data-key="${CSS.escape(dot.dataset.key)}"]`);
    if (!row) return;
    row.closest('details').open = true;
    for (const old of document.querySelectorAll('tr.here')) old.classList.remove('here');
    row.classList.add('here');
    row.scrollIntoView({block: 'center'});
  };
}
"""
