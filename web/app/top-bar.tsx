import { Link, useSearch } from '@tanstack/react-router'
import { Ellipsis, Search } from 'lucide-react'
import { useEffect, useRef } from 'react'
import { pathOf } from '../../src/domain/pages.ts'
import { Menu } from '../parts/toolbar/menu.tsx'
import { useRegion } from '../parts/use-region.ts'
import { Account } from './account.tsx'
import { useServices } from './context.ts'
import { t } from './i18n.ts'
import { type MenuPage, useMenus } from './menus.ts'
import { pageTitle } from './navigating.tsx'
import { useOpenPalette } from './palette-provider.tsx'
import { narrow, useMedia } from './use-media.ts'

export function TopBar() {
  const { replay } = useServices()
  const bar = useRef<HTMLElement>(null)
  const isNarrow = useMedia(narrow)
  useEffect(() => (bar.current === null || replay !== null ? undefined : publishHeight(bar.current)), [replay])
  return (
    <header className="top-bar" ref={bar}>
      <Link className="brand" to={pathOf('monitor')}>
        <BrandSign />
        <span className="brand-name">{t('product')}</span>
      </Link>
      {isNarrow ? null : <PageLinks />}
      <PaletteButton />
      <Account />
    </header>
  )
}

function PageLinks() {
  const { main } = useMenus()
  const region = useRegion<HTMLElement>()
  return (
    <nav className="pages" ref={region} aria-label={t('nav.label')}>
      {main.map((page) => (
        <PageLink key={page} page={page} />
      ))}
      <Menu className="pages-more" button={<Ellipsis className="icon" aria-hidden="true" />} label={t('nav.more')}>
        <OtherPages />
      </Menu>
    </nav>
  )
}

export function OtherPages() {
  const { mount } = useServices()
  const { others } = useMenus()
  return (
    <>
      {others.map((page) => (
        <PageLink key={page} page={page} className="choice" />
      ))}
      <a className="choice" href={`${mount}/help/`}>
        {t('nav.help')}
      </a>
    </>
  )
}

export function PageLink({ page, className }: { page: MenuPage; className?: string }) {
  const { replay } = useServices()
  const { at } = useSearch({ strict: false })
  const keepsMoment = replay !== null && (page === 'monitor' || page === 'wall')
  return (
    <Link
      className={className}
      to={pathOf(page)}
      search={keepsMoment ? { at } : {}}
      activeOptions={{ exact: page === 'monitor', includeSearch: false }}
    >
      {pageTitle(page)}
    </Link>
  )
}

function PaletteButton() {
  const open = useOpenPalette()
  return (
    <button type="button" className="choice palette-button" aria-keyshortcuts="Control+K Meta+K" onClick={open}>
      <Search className="icon" aria-hidden="true" />
      {t('palette.open')}
    </button>
  )
}

/** Other sticky elements stay below the height in this property of the page. */
export function publishHeight(bar: HTMLElement, property = '--bar-height'): () => void {
  const observer = new ResizeObserver(() => {
    // On narrow pages the header scrolls with the content.
    const height = getComputedStyle(bar).position === 'sticky' ? bar.offsetHeight : 0
    document.documentElement.style.setProperty(property, `${height}px`)
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
