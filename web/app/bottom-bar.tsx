/** On a phone: the pages that are needed backstage, and the others in a sheet. */

import './bottom-bar.css'
import { Link } from '@tanstack/react-router'
import { Bell, Ellipsis, LayoutGrid, ListChecks } from 'lucide-react'
import { pathOf } from '../../src/domain/pages.ts'
import { isOpen } from '../parts/alerts/alerts.ts'
import { Menu } from '../parts/toolbar/menu.tsx'
import { useRegion } from '../parts/use-region.ts'
import { useWatchState } from './context.ts'
import { t } from './i18n.ts'
import { barPages, useMenus } from './menus.ts'
import { pageTitle } from './navigating.tsx'
import { OtherPages, PageLink } from './top-bar.tsx'

const icons = { monitor: LayoutGrid, alerts: Bell, check: ListChecks } as const

export function BottomBar() {
  const { main } = useMenus()
  const region = useRegion<HTMLElement>()
  const open = useWatchState(({ alerts }) => alerts.filter(isOpen).length)
  return (
    <nav className="bottom-bar" ref={region} aria-label={t('nav.label')}>
      {barPages.map((page) => {
        const Icon = icons[page]
        return (
          <Link key={page} to={pathOf(page)} activeOptions={{ exact: page === 'monitor', includeSearch: false }}>
            <Icon className="icon" aria-hidden="true" />
            {pageTitle(page)}
            {page === 'alerts' && open > 0 ? <span className="bottom-bar-count">{open}</span> : null}
          </Link>
        )
      })}
      <Menu
        className="bottom-bar-more"
        isSheet={true}
        button={
          <>
            <Ellipsis className="icon" aria-hidden="true" />
            {t('nav.more')}
          </>
        }
      >
        <div className="sheet-links">
          {main.map((page) => (
            <PageLink key={page} page={page} className="choice" />
          ))}
        </div>
        <div className="sheet-links">
          <OtherPages />
        </div>
      </Menu>
    </nav>
  )
}
