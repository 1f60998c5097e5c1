/** The worst first. Each tile opens the wall of its site. */

import './sites.css'
import { Link } from '@tanstack/react-router'
import { ExternalLink, LayoutGrid, Play } from 'lucide-react'
import { memo } from 'react'
import type { SiteBody } from '../../src/contract/sites.ts'
import { pathOf } from '../../src/domain/pages.ts'
import { useServices, useWatchState } from '../app/context.ts'
import { plainText } from '../app/format.ts'
import { t } from '../app/i18n.ts'
import { usePageTitle } from '../app/page-title.ts'
import { type Filter, filterValues, useSearch } from '../app/query.ts'
import { useResource } from '../app/resource.ts'
import { useMay } from '../app/session.ts'
import type { Topic } from '../app/topics.ts'
import { Ago } from '../parts/age.tsx'
import { Empty } from '../parts/empty.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { StateIcon } from '../parts/state-icon.tsx'
import { FilterBar } from '../parts/tables/filter-bar.tsx'
import { useRegion } from '../parts/use-region.ts'
import { matchesSearch, needsAttention, siteState, sortSites } from './sites.ts'

const topics: readonly Topic[] = [
  ...(['source', 'site', 'site_removed', 'alert'] as const),
  ...(['receiver_added', 'receiver_removed', 'channel', 'channel_removed'] as const),
]
/** No message announces the latency and the last contact. */
const rereadMs = 30_000
/** With more sites, tiles show only the state while nothing needs attention. */
const mostDetailed = 60

const filters: readonly Filter[] = [
  { name: 'q', label: t('sites.filters.search'), kind: 'text' },
  {
    ...{ name: 'state', label: t('sites.filters.state'), kind: 'choice' },
    options: [{ value: 'problems', text: t('sites.filters.problems') }],
  },
]

export function Sites() {
  usePageTitle(t('sites.title'))
  const resource = useResource('/api/sites/', 'list', topics, rereadMs)
  return (
    <main className="content sites-page" id="content" tabIndex={-1}>
      <h1>{t('sites.title')}</h1>
      <Loaded resource={resource}>{(sites) => (sites.length === 0 ? <NoSites /> : <SiteList sites={sites} />)}</Loaded>
    </main>
  )
}

function NoSites() {
  const { mount } = useServices()
  const mayAdminister = useMay('administer')
  return (
    <Empty title={t('sites.none')}>
      <p>{t(mayAdminister ? 'sites.noneNext' : 'sites.noneAsk')}</p>
      {mayAdminister ? (
        <Link className="action" to={pathOf('manufacturers')}>
          {t('sites.add')}
        </Link>
      ) : null}
      <p>
        <a href={`${mount}/help/sites.html`}>{t('sites.guide')}</a>
      </p>
    </Empty>
  )
}

function SiteList({ sites }: { sites: readonly SiteBody[] }) {
  const region = useRegion<HTMLUListElement>()
  const [search] = useSearch()
  const { q = '', state } = filterValues(filters, search)
  const sources = useWatchState((watchState) => watchState.sources)
  const errors = new Map(sources.map(({ code, error }) => [code, error]))
  const shown = sortSites(sites).filter(
    (site) => matchesSearch(site, q) && (state === undefined || needsAttention(site)),
  )
  const attention = sites.filter(needsAttention).length
  return (
    <>
      <div className="sites-bar">
        <p>
          {t('sites.count', { count: sites.length })}
          {' · '}
          {attention === 0 ? t('summary.allOk') : t('summary.needAttention', { count: attention })}
        </p>
        <FilterBar filters={filters} />
      </div>
      {shown.length === 0 ? <Empty title={t('sites.noMatch')} filters={filters} /> : null}
      <ul className="site-tiles" data-compact={sites.length > mostDetailed || undefined} ref={region}>
        {shown.map((site) => (
          <SiteTile key={site.code} site={site} error={errors.get(site.code) ?? null} />
        ))}
      </ul>
    </>
  )
}

interface SiteTileProps {
  readonly site: SiteBody
  readonly error: string | null
}

const SiteTile = memo(function SiteTile({ site, error }: SiteTileProps) {
  const { code, via, url, receivers, channels, open_alerts, latency_ms, shows } = site
  const name = plainText(site.name)
  const search = { site: code }
  const counts = [
    t('sites.receivers', { count: receivers }),
    t('sites.channels', { count: channels }),
    ...(latency_ms === null ? [] : [t('sites.latency', { count: latency_ms })]),
  ]
  return (
    <li className="site-tile" data-tone={toneOf(site)}>
      <div className="site-head">
        <Link
          className="site-link"
          to={pathOf('wall')}
          search={search}
          preload={false}
          title={t('sites.wall', { name })}
        >
          <bdi>{name}</bdi>
        </Link>
        <Link
          className="site-action"
          to={pathOf('monitor')}
          search={search}
          preload={false}
          title={t('sites.monitor', { name })}
          aria-label={t('sites.monitor', { name })}
        >
          <LayoutGrid className="icon" aria-hidden="true" />
        </Link>
        {url === null ? null : (
          <a
            className="site-action"
            href={url}
            target="_blank"
            rel="noreferrer"
            title={t('sites.open', { name })}
            aria-label={t('sites.open', { name })}
          >
            <ExternalLink className="icon" aria-hidden="true" />
          </a>
        )}
      </div>
      <p className="site-state">
        <State site={site} />
        {open_alerts === 0 ? null : <span className="site-alerts">{t('sites.alerts', { count: open_alerts })}</span>}
      </p>
      {error === null ? null : <p className="site-error">{plainText(error)}</p>}
      {shows === null || shows.length === 0 ? null : (
        <p className="site-shows" title={t('sites.running')}>
          <Play className="icon" aria-hidden="true" />
          <span className="visually-hidden">{t('sites.running')}: </span>
          <bdi>{shows.map(plainText).join(' · ')}</bdi>
        </p>
      )}
      <p className="site-counts">
        {counts.join(' · ')}
        {via === null ? null : ` · ${t('sites.via', { site: via })}`}
      </p>
    </li>
  )
})

function toneOf(site: SiteBody): 'critical' | 'warning' | 'ok' | 'idle' {
  const state = siteState(site)
  if (state === 'lost') return 'critical'
  if (needsAttention(site)) return 'warning'
  return state === 'connected' ? 'ok' : 'idle'
}

function State({ site }: { site: SiteBody }) {
  const { problems, last_seen } = site
  const state = siteState(site)
  if (state === 'lost') {
    return (
      <>
        <StateIcon state="receiver_offline" />
        <span>
          {last_seen === null ? (
            t('sites.notReached')
          ) : (
            <>
              {t('sites.lost')} <Ago at={last_seen} />
            </>
          )}
        </span>
      </>
    )
  }
  if (problems > 0) {
    return (
      <>
        <StateIcon state="battery_low" />
        <span>{t('summary.needAttention', { count: problems })}</span>
      </>
    )
  }
  if (state === 'connected') {
    return (
      <>
        <StateIcon state="ok" />
        <span>{t('sites.connected')}</span>
      </>
    )
  }
  return (
    <>
      <StateIcon state="stale" />
      <span>{t(state === 'connecting' ? 'sites.connecting' : 'health.statuses.disabled')}</span>
    </>
  )
}
