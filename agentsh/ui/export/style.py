"""The style sheet of an exported page, as text. Nothing of a session ever comes into it.

Filters work by radio buttons and `:has()`, folding by `details`, jumps by anchors: the page has no
script at all, so that none can be smuggled into it (docs/adr/0026). Read next: html.py.
"""

from __future__ import annotations

from typing import Final

STYLE: Final = """
:root { color-scheme: light dark; --back: #fdfdfb; --text: #1c1e21; --soft: #5c6370; --line:
  #d9dbde;
  --box: #f1f2f4; --mark: #1257a8; --you: #e7f0fb; --bad: #b3261e; }
@media (prefers-color-scheme: dark) { :root { --back: #15171a; --text: #e4e6e9; --soft: #9aa2ad;
  --line: #34383e; --box: #1f2226; --mark: #7fb4f5; --you: #1b2a3d; --bad: #ff8a80; } }
* { box-sizing: border-box; }
html { scroll-behavior: smooth; scroll-padding-top: 1rem; }
@media (prefers-reduced-motion: reduce) { html { scroll-behavior: auto; } }
body { margin: 0; background: var(--back); color: var(--text); font: 16px/1.5 system-ui, sans-serif;
  display: grid; grid-template-columns: minmax(14rem, 22rem) minmax(0, 1fr); min-height: 100vh; }
a { color: var(--mark); }
:focus-visible { outline: 3px solid var(--mark); outline-offset: 1px; }
.skip { position: absolute; left: -999rem; }
.skip:focus { left: 1rem; top: 1rem; background: var(--back); padding: .5rem; z-index: 1; }
nav { position: sticky; top: 0; height: 100vh; overflow: auto; padding: 1rem; font-size: .85rem;
  border-right: 1px solid var(--line); }
nav h2, nav fieldset { margin: 0 0 .6rem; }
nav h2 { font-size: 1rem; }
nav fieldset { border: 1px solid var(--line); border-radius: .3rem; padding: .3rem .6rem; }
nav label { margin-right: .6rem; white-space: nowrap; }
nav ol { list-style: none; margin: 0; padding: 0; }
nav li a { display: block; padding: .1rem .3rem; border-left: 2px solid transparent; overflow:
  hidden;
  text-overflow: ellipsis; white-space: nowrap; text-decoration: none; color: var(--soft); }
nav li.path > a { color: var(--text); border-left-color: var(--mark); }
nav li a:hover { background: var(--box); }
nav li.leaf > a { font-weight: 600; }
.d1 { margin-left: .8rem; } .d2 { margin-left: 1.6rem; } .d3 { margin-left: 2.4rem; }
.d4 { margin-left: 3.2rem; } .d5 { margin-left: 4rem; } .d6 { margin-left: 4.8rem; }
.label { background: var(--mark); color: var(--back); border-radius: .2rem; padding: 0 .3rem;
  font-size: .8em; }
main { padding: 1rem 2rem 4rem; max-width: 60rem; }
header p, .note { color: var(--soft); font-size: .85rem; margin: .2rem 0; }
h1 { font-size: 1.4rem; overflow-wrap: anywhere; }
section.branch { border-left: 3px solid var(--line); margin: 3rem 0 0; padding-left: 1rem; }
article { margin: 1rem 0; padding: .6rem .9rem; border-radius: .5rem; }
article:target, details:target, li:target { outline: 2px solid var(--mark); }
article h3 { margin: 0 0 .3rem; font-size: .8rem; font-weight: 600; color: var(--soft); }
article h3 a { color: inherit; text-decoration: none; }
.you { background: var(--you); }
.told { white-space: pre-wrap; overflow-wrap: anywhere; }
.prose { overflow-wrap: anywhere; }
.prose > :first-child { margin-top: 0; } .prose > :last-child { margin-bottom: 0; }
.prose h4, .prose h5, .prose h6 { margin: 1rem 0 .4rem; font-size: 1.05em; }
.prose h5, .prose h6 { font-size: 1em; }
.prose table { border-collapse: collapse; display: block; overflow-x: auto; margin: .6rem 0; }
.prose th, .prose td { border: 1px solid var(--line); padding: .2rem .6rem; text-align: left; }
.prose blockquote { border-left: 3px solid var(--line); margin: .6rem 0; padding-left: .8rem;
  color: var(--soft); }
.prose hr { border: 0; border-top: 1px solid var(--line); }
pre code { background: none; padding: 0; font-size: 1em; }
.bad { color: var(--bad); }
pre { background: var(--box); border-radius: .3rem; padding: .6rem; margin: .4rem 0; overflow: auto;
  max-height: 32rem; font: .85rem/1.4 ui-monospace, monospace; white-space: pre-wrap; }
code { background: var(--box); border-radius: .2rem; padding: 0 .2rem;
  font: .9em ui-monospace, monospace; }
details { margin: .4rem 0; border: 1px solid var(--line); border-radius: .3rem; padding: .2rem
  .6rem; }
summary { cursor: pointer; font: .85rem/1.6 ui-monospace, monospace; overflow-wrap: anywhere; }
img { max-width: 100%; }
body:has(#show-talk:checked) .tool, body:has(#show-prompts:checked) nav li:not(.prompt) {
  display: none; }
@media (max-width: 50rem) { body { display: block; } nav { position: static; height: auto;
  max-height: 40vh; border-right: 0; border-bottom: 1px solid var(--line); } main { padding:
  1rem; } }
@media print { nav, .skip { display: none; } body { display: block; } }
"""
