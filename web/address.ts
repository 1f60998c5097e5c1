/** What the page's address says: which page, and where to go from it. */

import { findPage, type PageName } from '../src/model/pages.ts'

export type Page = PageName | 'unknown'
/**
 * The prefix everything lives under, without a slash at the end: `""` or `/micwatch`. The script itself is served from
 * `<mount>/assets/`, so its own address tells. (A <base> element would too, but the Content-Security-Policy forbids it.)
 */
export function mountOf(scriptUrl: string): string {
  const { pathname } = new URL(scriptUrl)
  const assets = pathname.lastIndexOf('/assets/')
  return assets === -1 ? '' : pathname.slice(0, assets)
}

export function pageOf(pathname: string, mount: string): Page {
  const isBelow = pathname === mount || pathname.startsWith(`${mount}/`)
  return (isBelow ? findPage(pathname.slice(mount.length)) : null) ?? 'unknown'
}

/**
 * Where to go on after signing in, if `next` names a place of this very service: anything else would let a link lead
 * people away who trust the page they sign in at.
 */
export function safeNext(next: string | null, { origin, mount }: { origin: string; mount: string }): string | null {
  if (next === null || !URL.canParse(next, origin)) return null
  const url = new URL(next, origin)
  const isBelow = url.pathname === mount || url.pathname.startsWith(`${mount}/`)
  const isOwn = next.startsWith('/') && url.origin === origin && isBelow && !url.pathname.startsWith('//')
  return isOwn ? url.pathname + url.search + url.hash : null
}
