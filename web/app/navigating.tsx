/** The current page stays until the next one is loaded. */

import { useRouterState } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { type PageName, pages, type SectionPage, sections } from '../../src/domain/pages.ts'
import { t } from './i18n.ts'

const patienceMs = 500

export function Navigating() {
  const target = useRouterState({
    select: ({ status, location }) => (status === 'pending' ? location.pathname : null),
  })
  const [isLate, setLate] = useState(false)
  useEffect(() => {
    if (target === null) return
    const timer = setTimeout(() => setLate(true), patienceMs)
    return () => {
      clearTimeout(timer)
      setLate(false)
    }
  }, [target])
  return (
    <div className="navigating" aria-live="polite">
      {target !== null && isLate ? t('parts.loadingPage', { page: titleOf(target) }) : null}
    </div>
  )
}

function titleOf(path: string): string {
  const page = pages.find((row) => new RegExp(`^${row.path.replace(':id', '[^/]+')}/?$`).test(path))
  return page === undefined ? t('product') : pageTitle(page.name)
}

export function pageTitle(name: PageName): string {
  return isSectionPage(name) ? t(`shell.pages.${name}.title`) : titles[name]
}

function isSectionPage(name: PageName): name is SectionPage {
  return sections.some(({ pages }) => (pages as readonly PageName[]).includes(name))
}

const titles: Readonly<Record<Exclude<PageName, SectionPage>, string>> = {
  monitor: t('nav.dashboard'),
  wall: t('nav.wall'),
  channel: t('channel.channel'),
  receiver: t('channel.receiver'),
  timeline: t('nav.timeline'),
  alerts: t('nav.alerts'),
  frequencies: t('nav.frequencies'),
  sites: t('nav.sites'),
  shows: t('nav.shows'),
  show: t('nav.shows'),
  check: t('nav.check'),
  report: t('pages.report'),
  crew_sheet: t('crewSheet.title'),
  changes: t('changes.title'),
  check_report: t('pages.check'),
  handover: t('pages.handover'),
  about: t('nav.about'),
  sign_in: t('pages.signIn'),
  set_up: t('pages.setUp'),
  kiosk: t('product'),
  acknowledge: t('product'),
  account: t('pages.account'),
  overview: t('shell.admin'),
}
