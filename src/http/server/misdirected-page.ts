/**
 * The page for a browser that used a host name that the service does not accept. A request for a style sheet under that
 * name would be rejected as well, and the content security policy forbids inline styles, so the layout uses HTML
 * attributes.
 */

import { escapeHtml } from './html.ts'

/** Builds the page. `host` is the rejected host name, without its port. */
export function misdirectedPage(host: string): string {
  return [
    '<!doctype html><html lang="en"><head><meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    '<meta name="color-scheme" content="light dark">',
    '<title>Unknown host name · Micwatch</title><link rel="icon" href="data:,"></head><body>',
    '<table role="presentation" width="100%" cellpadding="16"><tr><td width="10%"></td><td><main>',
    `<img src="data:image/svg+xml,${encodeURIComponent(logo)}" width="56" height="56" alt="Micwatch">`,
    `<h1>${font('Unknown host name')}</h1>`,
    `<p>${font(`Micwatch is running here, but it does not respond to requests for the host <b>${escapeHtml(host)}</b>.`)}</p>`,
    '<hr><ul>',
    `<li><p>${font(forNames)}</p></li>`,
    `<li><p>${font(forProxies)}</p></li>`,
    '</ul></main></td><td width="10%"></td></tr></table></body></html>',
  ].join('\n')
}

const forNames =
  'To open it under this name or address, add it to <code>server.allowed_hosts</code> in the configuration or to the ' +
  'environment variable <code>MICWATCH_ALLOWED_HOSTS</code>, and restart Micwatch.'

const forProxies =
  'Behind a proxy, also add the network of the proxy to <code>server.trusted_proxies</code> or ' +
  '<code>MICWATCH_TRUSTED_PROXIES</code>.'

const logo =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#12161b"/>' +
  '<rect x="12" y="5" width="8" height="14" rx="4" fill="#35c48d"/><path d="M8 15a8 8 0 0 0 16 0M16 23v4M11 27h10" ' +
  'fill="none" stroke="#eef2f5" stroke-width="2.2" stroke-linecap="round"/></svg>'

function font(html: string): string {
  return `<font face="system-ui, sans-serif">${html}</font>`
}
