/** What stands on a live page: its channels, or why there are none. */

import type { ReactNode } from 'react'
import { useHouse, useSurroundings } from '../context.ts'
import { liveTexts } from '../texts/live.ts'
import { texts } from '../texts.ts'
import { usePlaces } from '../use-places.ts'
import { defaultView, searchOf, type View } from '../view.ts'
import { Notice } from './notice.tsx'

export function Phase({ view, children }: { view: View; children: (places: string) => ReactNode }) {
  const phase = useHouse((house) => house.phase)
  const places = usePlaces(view)
  if (phase === 'loading') return <Notice title={texts.loading.title} />
  if (phase === 'failed') return <Failed />
  return places === '' ? <Empty view={view} /> : children(places)
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

function Empty({ view }: { view: View }) {
  const { mount, manufacturer } = useSurroundings()
  const hasChannels = useHouse((house) => house.receivers.size > 0)
  const codes = useHouse((house) =>
    (house.health?.manufacturers ?? [])
      .filter((one) => one.status !== 'disabled')
      .map((one) => one.code)
      .join(', '),
  )
  if (hasChannels) return <NothingFound view={view} />
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

/** There are channels, but none that this view looks for. */
function NothingFound({ view }: { view: View }) {
  const group = useHouse((house) => house.groups.find((one) => one.id === view.group))
  const { q, state } = view
  const looked = [
    q === '' ? null : texts.empty.search(q),
    state === 'all' ? null : liveTexts.states[state],
    group === undefined ? null : texts.empty.inGroup(group.title),
  ].filter((one) => one !== null)
  const everything = { ...view, q: defaultView.q, state: defaultView.state, group: defaultView.group }
  const isEmptyGroup = group !== undefined && q === '' && state === 'all'
  return (
    <Notice title={isEmptyGroup ? texts.empty.groupTitle(group.title) : texts.empty.nothingFound}>
      <p>{isEmptyGroup ? texts.empty.groupNext : texts.empty.lookedFor(looked.join(', '))}</p>
      <p>
        <a href={`${location.pathname}${searchOf(everything, location.search)}`}>{texts.empty.showEverything}</a>
      </p>
    </Notice>
  )
}
