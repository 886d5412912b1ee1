"""The frame of an HTML report: its look and the few lines of script that filter a table."""

from __future__ import annotations

from html import escape

_STYLE = """
:root { color-scheme: light dark; --text: #1c1e21; --dim: #676d75; --line: #e3e5e8; --back: #fff;
  --supported: #1a7f4b; --rewritten: #4aa564; --composed: #2a7fb8; --risky: #c98a00;
  --missing: #c4352c; --unlisted: #9b4fb0; }
@media (prefers-color-scheme: dark) { :root { --text: #e6e8ea; --dim: #9aa1a9; --line: #33383e;
  --back: #16181b; --supported: #3fb374; --rewritten: #6cc488; --composed: #58a9dd;
  --risky: #e0a730; --missing: #f0695f; --unlisted: #c98ad8; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 2rem 1.25rem 4rem; max-width: 78rem; background: var(--back);
  color: var(--text); font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.5rem; margin: 0 0 .5rem; }
h2 { font-size: 1.1rem; margin: 2.25rem 0 .5rem; }
.lead { font-size: 1.15rem; margin: 0 0 1rem; }
.dim, footer, small, .where { color: var(--dim); }
code { font: .92em ui-monospace, Menlo, Consolas, monospace; overflow-wrap: anywhere; }
table { border-collapse: collapse; width: 100%; }
th { text-align: left; font-weight: 600; color: var(--dim); white-space: nowrap; }
th, td { padding: .35rem .75rem .35rem 0; border-bottom: 1px solid var(--line);
  vertical-align: top; }
.where { font-size: .88em; overflow-wrap: anywhere; }
.where summary { cursor: pointer; }
.where ul { margin: .25rem 0; padding-left: 1.1rem; white-space: pre-wrap; }
.bar { display: flex; gap: 2px; height: .8rem; border-radius: .4rem; overflow: hidden; }
.bar span { min-width: 3px; }
.bar .supported, i.supported { background: var(--supported); }
.bar .rewritten, i.rewritten { background: var(--rewritten); }
.bar .composed, i.composed { background: var(--composed); }
.bar .risky, i.risky { background: var(--risky); }
.bar .missing, i.missing { background: var(--missing); }
.bar .unlisted, i.unlisted { background: var(--unlisted); }
.key { margin-right: 1rem; white-space: nowrap; }
.key i { display: inline-block; width: .7rem; height: .7rem; border-radius: 50%;
  margin-right: .35rem; }
.status { font-weight: 600; white-space: nowrap; }
.status.supported, .status.rewritten, .good { color: var(--supported); }
.status.composed { color: var(--composed); } .status.risky { color: var(--risky); }
.status.missing, .error { color: var(--missing); } .status.unlisted { color: var(--unlisted); }
.actions { list-style: none; padding: 0; }
.actions li { display: flex; gap: .9rem; padding: .6rem 0; border-bottom: 1px solid var(--line);
  color: var(--text); }
.actions p { margin: .15rem 0; }
.count { min-width: 3.2rem; text-align: right; }
li.error .count { color: var(--missing); } li.warning .count { color: var(--risky); }
li.note .count { color: var(--dim); }
.filter { display: flex; flex-wrap: wrap; gap: .25rem 1rem; align-items: center; }
.filter input[type=search] { font: inherit; padding: .25rem .5rem; width: 16rem; max-width: 100%; }
footer { margin-top: 3rem; font-size: .85rem; }
@media (max-width: 50rem) { table { display: block; overflow-x: auto; } }
@media print { .filter { display: none; } }
"""

_SCRIPT = """
const box = document.querySelector('.filter');
if (box) {
  const rows = [...document.querySelectorAll('#operators tbody tr')];
  const apply = () => {
    const word = box.querySelector('[type=search]').value.toLowerCase();
    const boxes = [...box.querySelectorAll('[type=checkbox]:checked')];
    const on = new Set(boxes.map(b => b.dataset.status));
    for (const row of rows)
      row.hidden = !on.has(row.dataset.status) || !row.textContent.toLowerCase().includes(word);
  };
  box.addEventListener('input', apply);
}
"""


def page(title: str, body: str) -> str:
    """A complete document around the body."""
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n{body}\n"
        f"<script>{_SCRIPT}</script>\n</body>\n</html>\n"
    )
