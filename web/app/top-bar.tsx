import { type AnyRouter, Link, useRouter, useSearch } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { pathOf } from '../../src/domain/pages.ts'
import { Account } from './account.tsx'
import { useServices, useWatchState } from './context.ts'
import { t } from './i18n.ts'
import { useIsListed } from './sections.ts'

export function TopBar() {
  const isListed = useIsListed()
  const { replay, mount } = useServices()
  const hasSites = useWatchState(({ sites }) => sites.length > 0)
  const { at } = useSearch({ strict: false })
  const moment = replay === null ? {} : { at }
  const bar = useRef<HTMLElement>(null)
  const pages = useRef<HTMLElement>(null)
  const router = useRouter()
  useEffect(() => (pages.current === null ? undefined : keepCurrentVisible(pages.current, router)), [router])
  useEffect(() => (bar.current === null || replay !== null ? undefined : publishHeight(bar.current)), [replay])
  return (
    <header className="top-bar" ref={bar}>
      <Link className="brand" to={pathOf('monitor')}>
        <BrandSign />
        <span className="brand-name">{t('product')}</span>
      </Link>
      <nav className="pages" ref={pages} aria-label={t('nav.label')}>
        <Link to={pathOf('monitor')} search={moment} activeOptions={{ exact: true, includeSearch: false }}>
          {t('nav.dashboard')}
        </Link>
        <Link to={pathOf('wall')} search={moment}>
          {t('nav.wall')}
        </Link>
        <Link to={pathOf('timeline')}>{t('nav.timeline')}</Link>
        <Link to={pathOf('alerts')}>{t('nav.alerts')}</Link>
        <Link to={pathOf('frequencies')}>{t('nav.frequencies')}</Link>
        <Link to={pathOf('shows')}>{t('nav.shows')}</Link>
        <Link to={pathOf('handover')}>{t('handover.title')}</Link>
        {hasSites ? <Link to={pathOf('sites')}>{t('nav.sites')}</Link> : null}
        {isListed('overview') ? <Link to={pathOf('overview')}>{t('shell.admin')}</Link> : null}
        <a href={`${mount}/help/`}>{t('nav.help')}</a>
        <Link to={pathOf('about')}>{t('nav.about')}</Link>
      </nav>
      <Account />
    </header>
  )
}

/**
 * The link becomes current only when the code of its page is loaded. The router then scrolls the menu to where it was
 * on the previous page, so the link is moved to the middle again.
 */
function keepCurrentVisible(menu: HTMLElement, router: AnyRouter): () => void {
  const scroll = () => {
    const link = menu.querySelector<HTMLElement>('[aria-current="page"]')
    if (link === null) return
    menu.scrollTo({ left: link.offsetLeft - menu.offsetLeft - (menu.clientWidth - link.offsetWidth) / 2 })
  }
  const sizes = new ResizeObserver(scroll)
  for (const element of [menu, ...menu.children]) sizes.observe(element)
  const changes = new MutationObserver(scroll)
  changes.observe(menu, { childList: true })
  const unsubscribe = router.subscribe('onRendered', scroll)
  return () => {
    sizes.disconnect()
    changes.disconnect()
    unsubscribe()
  }
}

/** Other sticky elements stay below this height. */
export function publishHeight(bar: HTMLElement): () => void {
  const observer = new ResizeObserver(() => {
    // On narrow pages the header scrolls with the content.
    const height = getComputedStyle(bar).position === 'sticky' ? bar.offsetHeight : 0
    document.documentElement.style.setProperty('--bar-height', `${height}px`)
  })
  observer.observe(bar)
  return () => observer.disconnect()
}

export function BrandSign() {
  return (
    <svg className="brand-sign" viewBox="0 0 32 32" aria-hidden="true">
      <rect x="12" y="3" width="8" height="16" rx="4" />
      <path d="M7 15a9 9 0 0 0 18 0M16 24v5M10 29h12" />
    </svg>
  )
}
