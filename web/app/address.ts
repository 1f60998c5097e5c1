/**
 * The path prefix of all pages: `""` or `/micwatch`. Derived from the script's URL, `<mount>/assets/…`, because the
 * Content-Security-Policy forbids a <base> element.
 */
export function mountOf(scriptUrl: string): string {
  const { pathname } = new URL(scriptUrl)
  const assets = pathname.lastIndexOf('/assets/')
  return assets === -1 ? '' : pathname.slice(0, assets)
}

/**
 * Null unless `next` is on this service. An open redirect would let a link lead users from a trusted page to another
 * site.
 */
export function safeNext(next: string | null, { origin, mount }: { origin: string; mount: string }): string | null {
  if (next === null || !URL.canParse(next, origin)) return null
  const url = new URL(next, origin)
  const isUnderMount = url.pathname === mount || url.pathname.startsWith(`${mount}/`)
  const isSameSite = next.startsWith('/') && url.origin === origin && isUnderMount && !url.pathname.startsWith('//')
  return isSameSite ? url.pathname + url.search + url.hash : null
}

export function parseUrl(address: string): URL | null {
  return URL.canParse(address) ? new URL(address) : null
}
