/**
 * The page for a browser that used a host name that the service does not accept. A request for a style sheet under that
 * name would be rejected as well, so the page contains its style, which its own content security policy allows by hash.
 */

import { createHash } from 'node:crypto'
import { escapeHtml } from './html.ts'

/** Builds the page. `host` is the rejected host name, without its port. */
export function misdirectedPage(host: string): string {
  return [
    '<!doctype html><html lang="en"><head><meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    '<meta name="color-scheme" content="dark light">',
    `<title>Unknown host name · Micwatch</title><link rel="icon" href="data:,"><style>${style}</style></head><body>`,
    `<header><img src="data:image/svg+xml,${encodeURIComponent(logo)}" width="24" height="24" alt="">Micwatch</header>`,
    '<main><h1>Unknown host name</h1>',
    `<p>Micwatch is running here, but it does not respond to requests for the host <b>${escapeHtml(host)}</b>.</p>`,
    `<ul><li>${forNames}</li><li>${forProxies}</li></ul>`,
    '</main></body></html>',
  ].join('\n')
}

const forNames =
  'To open it under this name or address, add it to <code>server.allowed_hosts</code> in the configuration or to the ' +
  'environment variable <code>MICWATCH_ALLOWED_HOSTS</code>, and reload the configuration ' +
  'or restart Micwatch.'

const forProxies =
  'Behind a proxy, also add the network of the proxy to <code>server.trusted_proxies</code> or ' +
  '<code>MICWATCH_TRUSTED_PROXIES</code>.'

const logo =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#12161b"/>' +
  '<rect x="12" y="5" width="8" height="14" rx="4" fill="#35c48d"/><path d="M8 15a8 8 0 0 0 16 0M16 23v4M11 27h10" ' +
  'fill="none" stroke="#eef2f5" stroke-width="2.2" stroke-linecap="round"/></svg>'

/** Layout and colours of the pages before sign-in (`web/parts/forms/form.css`, `web/app/tokens.css`). */
const style = `
:root { --page: #0b0d10; --card: #171a1f; --text: #eef1f4; --soft: #a9b2bc; --line: #272c33 }
@media (prefers-color-scheme: light) {
  :root { --page: #edf0f3; --card: #ffffff; --text: #12171c; --soft: #4b5763; --line: #d9dee4 }
}
* { box-sizing: border-box }
body {
  display: grid; grid-template-columns: minmax(0, 1fr); align-content: center; justify-items: center; gap: 24px;
  min-height: 100vh; margin: 0; padding: 32px 16px 12vh; background: var(--page); color: var(--text);
  font: 15px/1.5 system-ui, sans-serif; overflow-wrap: anywhere;
}
header { display: flex; align-items: center; gap: 8px; font-size: 16px; font-weight: 650 }
main { width: min(100%, 36rem); padding: 32px; border-radius: 12px; background: var(--card) }
h1 { margin: 0 0 12px; font-size: 22px; line-height: 1.25; letter-spacing: -0.011em }
p { margin: 0; color: var(--soft) }
b { color: var(--text) }
ul { display: grid; gap: 12px; margin: 24px 0 0; padding: 24px 0 0 20px; border-top: 1px solid var(--line) }
code { font-size: 13px }
@media (max-width: 480px) { body { align-content: start } main { padding: 0; background: none } }
@media (forced-colors: active) { main { border: 1px solid } }
`

/** Allows only the contents of the page. */
export const misdirectedPolicy =
  `default-src 'none'; style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'; img-src data:; ` +
  "form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
