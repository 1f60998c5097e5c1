/** The desk: every channel as a card. */

import { useEffect, useState, useSyncExternalStore } from 'react'
import { type Sort, searchOf, viewOf } from '../address.ts'
import { useHouse, useSurroundings } from '../context.ts'
import { ChannelCard } from '../parts/channel-card.tsx'
import { HealthFooter } from '../parts/health-footer.tsx'
import { MeterLayer } from '../parts/meters.tsx'
import { Notice } from '../parts/notice.tsx'
import { Filters, Summary } from '../parts/summary.tsx'
import { TopBar } from '../parts/top-bar.tsx'
import { texts } from '../texts.ts'

export function Dashboard() {
  const { manufacturer } = useSurroundings()
  const [sort, setSort] = useSort(manufacturer)
  const phase = useHouse((house) => house.phase)
  const openManufacturer = (code: string | null) => {
    location.search = searchOf({ manufacturer: code, sort }, location.search)
  }
  return (
    <>
      <TopBar current="dashboard">
        <Summary />
        <Filters sort={sort} onSort={setSort} onManufacturer={openManufacturer} />
      </TopBar>
      <main className="content">
        <h1 className="for-listeners">{texts.nav.dashboard}</h1>
        {phase === 'ready' ? <Cards sort={sort} /> : null}
        {phase === 'loading' ? <Notice title={texts.loading.title} /> : null}
        {phase === 'failed' ? <Failed /> : null}
      </main>
      <HealthFooter />
    </>
  )
}

/** Kept in the address, so that a bookmark brings it back. */
function useSort(manufacturer: string | null): [Sort, (sort: Sort) => void] {
  const [current, setCurrent] = useState(() => viewOf(location.search).sort)
  useEffect(() => {
    const follow = () => setCurrent(viewOf(location.search).sort)
    window.addEventListener('popstate', follow)
    return () => window.removeEventListener('popstate', follow)
  }, [])
  const change = (next: Sort) => {
    const search = searchOf({ manufacturer, sort: next }, location.search)
    history.replaceState(null, '', `${location.pathname}${search}`)
    setCurrent(next)
  }
  return [current, change]
}

function Cards({ sort }: { sort: Sort }) {
  const { store } = useSurroundings()
  // "receiver.channel receiver.channel …": a string, so that the list is rendered again only when the order changed.
  const order = useSyncExternalStore(store.subscribe, () => orderOf(sort))
  if (order === '') return <Empty />
  const places = order.split(' ')
  return (
    <div className="field">
      <ul className="cards" data-density={densityOf(places.length)} aria-label={texts.card.list}>
        {places.map((place) => {
          const [receiverId, channelId] = place.split('.').map(Number) as [number, number]
          return <ChannelCard key={place} receiverId={receiverId} channelId={channelId} />
        })}
      </ul>
      <MeterLayer order={order} />
    </div>
  )

  function orderOf(wanted: Sort): string {
    return store
      .cards(wanted)
      .map((one) => `${one.receiverId}.${one.channelId}`)
      .join(' ')
  }
}

function densityOf(channels: number): 'roomy' | 'usual' | 'dense' {
  if (channels <= 16) return 'roomy'
  return channels <= 40 ? 'usual' : 'dense'
}

function Failed() {
  const { retry } = useSurroundings()
  const problem = useHouse((house) => house.problem)
  if (problem === null) return null
  const { title, next } = texts.problems[problem.kind]
  return (
    <Notice title={title}>
      <p role="alert">{problem.detail}</p>
      <p>{next}</p>
      <button type="button" className="action" onClick={retry}>
        {texts.failed.retry}
      </button>
    </Notice>
  )
}

function Empty() {
  const { mount, manufacturer } = useSurroundings()
  const codes = useHouse((house) =>
    (house.health?.manufacturers ?? [])
      .filter((one) => one.status !== 'disabled')
      .map((one) => one.code)
      .join(', '),
  )
  if (manufacturer !== null) {
    return (
      <Notice title={texts.empty.filtered(manufacturer)}>
        <p>
          <a href={`${mount}/`}>{texts.empty.showAll}</a>
        </p>
      </Notice>
    )
  }
  if (codes !== '') {
    return (
      <Notice title={texts.empty.waitingTitle}>
        <p>{texts.empty.waiting(codes)}</p>
      </Notice>
    )
  }
  return (
    <Notice title={texts.empty.title}>
      <p>{texts.empty.demo}</p>
      <pre>{texts.empty.demoCommand}</pre>
      <p>{texts.empty.configure}</p>
      <pre>{texts.empty.configuration}</pre>
    </Notice>
  )
}
