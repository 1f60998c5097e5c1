/** What stands on a live page: its channels, or why there are none. */

import type { ReactNode } from 'react'
import { pathOf } from '../../src/model/pages.ts'
import { useHouse, useSurroundings } from '../context.ts'
import { signInPath } from '../reading.ts'
import { useSession } from '../session.ts'
import { usePlaces } from '../use-places.ts'
import { defaultView, searchOf, type View } from '../view.ts'
import { words } from '../words.ts'
import { Notice } from './notice.tsx'

export function Phase({ view, children }: { view: View; children: (places: string) => ReactNode }) {
  const phase = useHouse((runtime) => runtime.phase)
  const places = usePlaces(view)
  if (phase === 'loading') return <Notice title={words.loading.title} />
  if (phase === 'failed') return <Failed />
  return places === '' ? <Empty view={view} /> : children(places)
}

function Failed() {
  const { mount, retry } = useSurroundings()
  const problem = useHouse((runtime) => runtime.problem)
  if (problem === null) return null
  const { title, next } = words.problems[problem.kind]
  return (
    <Notice title={title}>
      <p role="alert">{problem.detail}</p>
      <p>{next}</p>
      {problem.kind === 'sign_in' ? (
        <p>
          <a href={signInPath(mount)}>{words.shell.signIn}</a>
        </p>
      ) : null}
      <button type="button" className="action" onClick={retry}>
        {words.failed.retry}
      </button>
    </Notice>
  )
}

function Empty({ view }: { view: View }) {
  const { mount, manufacturer } = useSurroundings()
  const hasChannels = useHouse((runtime) => runtime.receivers.size > 0)
  const codes = useHouse((runtime) =>
    (runtime.health?.manufacturers ?? [])
      .filter((one) => one.status !== 'disabled')
      .map((one) => one.code)
      .join(', '),
  )
  if (hasChannels) return <NothingFound view={view} />
  if (manufacturer !== null) {
    return (
      <Notice title={words.empty.filtered(manufacturer)}>
        <p>
          <a href={`${mount}/`}>{words.empty.showAll}</a>
        </p>
      </Notice>
    )
  }
  if (codes !== '') {
    return (
      <Notice title={words.empty.waitingTitle}>
        <p>{words.empty.waiting(codes)}</p>
      </Notice>
    )
  }
  return <NothingConfigured />
}

function NothingConfigured() {
  const { mount } = useSurroundings()
  const session = useSession()
  const mayAdd = session?.permissions.includes('administer') === true
  return (
    <Notice title={words.empty.title}>
      {mayAdd ? (
        <p>
          {words.empty.addNow} <a href={mount + pathOf('manufacturers')}>{words.empty.addLink}</a>
        </p>
      ) : null}
      <p>{words.empty.demo}</p>
      <pre>{demoCommand}</pre>
      <p>{mayAdd ? words.empty.configureToo : words.empty.configure}</p>
      <pre>{configuration}</pre>
    </Notice>
  )
}

const demoCommand = 'micwatch serve --demo'

const configuration = `manufacturers:
  - code: shure
    name: Shure
    config:
      api_base_url: https://192.168.1.20:10000
      shared_key: "\${SHURE_KEY}"`

/** There are channels, but none that this view looks for. */
function NothingFound({ view }: { view: View }) {
  const group = useHouse((runtime) => runtime.groups.find((one) => one.id === view.group))
  const { q, state } = view
  const looked = [
    q === '' ? null : words.empty.search(q),
    state === 'all' ? null : words.live.states[state],
    group === undefined ? null : words.empty.inGroup(group.title),
  ].filter((one) => one !== null)
  const everything = { ...view, q: defaultView.q, state: defaultView.state, group: defaultView.group }
  const isEmptyGroup = group !== undefined && q === '' && state === 'all'
  return (
    <Notice title={isEmptyGroup ? words.empty.groupTitle(group.title) : words.empty.nothingFound}>
      <p>{isEmptyGroup ? words.empty.groupNext : words.empty.lookedFor(looked.join(', '))}</p>
      <p>
        <a href={`${location.pathname}${searchOf(everything, location.search)}`}>{words.empty.showEverything}</a>
      </p>
    </Notice>
  )
}
