/** Style sheet of the API page. It is compiled into the program, so it is available whenever the page is. */

export const docsStyle = `
:root {
  color-scheme: light dark;
  --ground: light-dark(#fff, #14171a);
  --ink: light-dark(#1b1f24, #e4e8ec);
  --quiet: light-dark(#57606a, #9aa4ae);
  --line: light-dark(#d8dee4, #2d343b);
  --shade: light-dark(#f5f7f9, #1c2126);
  --link: light-dark(#0b5fb0, #6cb2f5);
}
* { box-sizing: border-box; }
html { scroll-padding-top: 1rem; }
body {
  margin: 0 auto; padding: 1.5rem 1rem 4rem; max-width: 62rem;
  background: var(--ground); color: var(--ink); font: 16px/1.5 system-ui, sans-serif;
}
h1 { margin: 0 0 .5rem; font-size: 1.6rem; }
h1 small { color: var(--quiet); font-size: 1rem; font-weight: 400; }
h2 { margin: 2.5rem 0 .25rem; font-size: 1.3rem; }
h3 { margin: 2rem 0 0; font-size: 1.05rem; }
h4 { margin: 1.25rem 0 .25rem; color: var(--quiet); font-size: .8rem; letter-spacing: .04em; text-transform: uppercase; }
p { margin: .25rem 0 .5rem; }
a { color: var(--link); }
code { font: .9em ui-monospace, monospace; }
nav { display: flex; flex-wrap: wrap; gap: .25rem 1rem; margin-top: 1rem; }
nav a { padding: .25rem 0; }
details { margin: .5rem 0; border: 1px solid var(--line); border-radius: 6px; padding: 0 .75rem; }
details[open] { padding-bottom: .75rem; }
summary { padding: .6rem 0; cursor: pointer; overflow-wrap: anywhere; }
summary span { color: var(--quiet); }
.method {
  display: inline-block; min-width: 4.2rem; margin-right: .25rem; border-radius: 4px; padding: .05rem .4rem;
  color: #fff; background: #57606a; font-size: .75rem; text-align: center;
}
.get { background: #0b5fb0; }
.post { background: #1a7f37; }
.put, .patch { background: #8a5a00; }
.delete { background: #b3261e; }
table { margin-bottom: .75rem; width: 100%; border-collapse: collapse; font-size: .9rem; }
th { color: var(--quiet); font-weight: 500; text-align: left; }
th, td { border-bottom: 1px solid var(--line); padding: .35rem .5rem .35rem 0; vertical-align: top; overflow-wrap: anywhere; }
th:nth-child(1) { width: 30%; }
th:nth-child(2) { width: 28%; }
td i { color: var(--quiet); font-size: .85em; }
.statuses { margin: 0; padding: 0; list-style: none; font-size: .9rem; }
@media (max-width: 40rem) {
  body { padding: 1rem .75rem 3rem; }
  summary span { display: block; }
  thead { display: none; }
  tr { display: block; border-bottom: 1px solid var(--line); padding: .4rem 0; }
  td { display: block; border: 0; padding: 0; }
  td:nth-child(2) { color: var(--quiet); }
}
`
