/** The header of every page. */

import { type ReactNode, useEffect, useRef } from 'react'
import { pathOf } from '../../src/domain/pages.ts'
import { useServices } from '../context.ts'
import { t } from '../i18n.ts'
import { Account } from './account.tsx'

interface TopBarProps {
  readonly current: 'dashboard' | 'admin' | 'about' | null
  readonly children?: ReactNode
}

export function TopBar({ current, children }: TopBarProps) {
  const { mount } = useServices()
  const links = [
    { page: 'dashboard', href: `${mount}/`, text: t('nav.dashboard') },
    { page: 'wall', href: `${mount}${pathOf('wall')}`, text: t('nav.wall') },
    { page: 'admin', href: `${mount}${pathOf('overview')}`, text: t('shell.admin') },
    { page: 'about', href: `${mount}/about/`, text: t('nav.about') },
  ]
  const bar = useRef<HTMLElement>(null)
  useEffect(() => (bar.current === null ? undefined : publishHeight(bar.current)), [])
  return (
    <header className="top-bar" ref={bar}>
      <a className="brand" href={`${mount}/`}>
        <svg className="brand-sign" viewBox="0 0 32 32" aria-hidden="true">
          <rect x="12" y="3" width="8" height="16" rx="4" />
          <path d="M7 15a9 9 0 0 0 18 0M16 24v5M10 29h12" />
        </svg>
        <span className="brand-name">{t('product')}</span>
      </a>
      {children}
      <nav className="pages" aria-label={t('nav.label')}>
        {links.map(({ page, href, text }) => (
          <a key={page} href={href} aria-current={page === current ? 'page' : undefined}>
            {text}
          </a>
        ))}
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
