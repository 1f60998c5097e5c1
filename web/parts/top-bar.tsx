/** The header of every page but the wall. Its menu lists the pages that the user may open. */

import { Link } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { pathOf } from '../../src/domain/pages.ts'
import { t } from '../i18n.ts'
import { useIsListed } from '../sections.ts'
import { Account } from './account.tsx'
import { BrandSign } from './brand-sign.tsx'

export function TopBar() {
  const isListed = useIsListed()
  const bar = useRef<HTMLElement>(null)
  useEffect(() => (bar.current === null ? undefined : publishHeight(bar.current)), [])
  return (
    <header className="top-bar" ref={bar}>
      <Link className="brand" to={pathOf('monitor')}>
        <BrandSign />
        <span className="brand-name">{t('product')}</span>
      </Link>
      <nav className="pages" aria-label={t('nav.label')}>
        <Link to={pathOf('monitor')} activeOptions={{ exact: true, includeSearch: false }}>
          {t('nav.dashboard')}
        </Link>
        <Link to={pathOf('wall')}>{t('nav.wall')}</Link>
        <Link to={pathOf('timeline')}>{t('nav.timeline')}</Link>
        <Link to={pathOf('alerts')}>{t('nav.alerts')}</Link>
        {isListed('overview') ? <Link to={pathOf('overview')}>{t('shell.admin')}</Link> : null}
        <Link to={pathOf('about')}>{t('nav.about')}</Link>
      </nav>
      <Account />
    </header>
  )
}

/** Sets a CSS variable to the height of the header, so that other sticky elements stay below it. */
function publishHeight(bar: HTMLElement): () => void {
  const observer = new ResizeObserver(() => {
    // On narrow pages the header scrolls with the content.
    const height = getComputedStyle(bar).position === 'sticky' ? bar.offsetHeight : 0
    document.documentElement.style.setProperty('--bar-height', `${height}px`)
  })
  observer.observe(bar)
  return () => observer.disconnect()
}
