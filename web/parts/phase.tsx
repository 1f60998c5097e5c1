/** What stands on a live page: its channels, or why there are none. */

import type { ReactNode } from 'react'
import { isAllowed } from '../../src/model/access.ts'
import { pathOf } from '../../src/model/pages.ts'
import { useHouse, useSurroundings } from '../context.ts'
import { t } from '../i18n.ts'
import { signInPath } from '../reading.ts'
import { useSession } from '../session.ts'
import { usePlaces } from '../use-places.ts'
import { defaultView, searchOf, type View } from '../view.ts'
import { Notice } from './notice.tsx'

export function Phase({ view, children }: { view: View; children: (places: string) => ReactNode }) {
  const phase = useHouse((house) => house.phase)
  const places = usePlaces(view)
  if (phase === 'loading') return <Notice title={t('loading.title')} />
  if (phase === 'failed') return <Failed />
  return places === '' ? <Empty view={view} /> : children(places)
}

function Failed() {
  const { mount, retry } = useSurroundings()
  const problem = useHouse((house) => house.problem)
  if (problem === null) return null
  return (
    <Notice title={t(`problems.${problem.kind}.title`)}>
      <p role="alert">{problem.detail}</p>
      <p>{t(`problems.${problem.kind}.next`)}</p>
      {problem.kind === 'sign_in' ? (
        <p>
          <a href={signInPath(mount)}>{t('shell.signIn')}</a>
        </p>
      ) : null}
      <button type="button" className="action" onClick={retry}>
        {t('failed.retry')}
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
      <Notice title={t('empty.filtered', { code: manufacturer })}>
        <p>
          <a href={`${mount}/`}>{t('empty.showAll')}</a>
        </p>
      </Notice>
    )
  }
  if (codes !== '') {
    return (
      <Notice title={t('empty.noReceiversTitle')}>
        <p>{t('empty.noReceivers', { names: codes })}</p>
      </Notice>
    )
  }
  return <NothingConfigured />
}

function NothingConfigured() {
  const { mount } = useSurroundings()
  const session = useSession()
  const mayAdd = session !== null && isAllowed(session.role, 'administer')
  return (
    <Notice title={t('empty.title')}>
      {mayAdd ? (
        <p>
          {t('empty.addNow')} <a href={mount + pathOf('manufacturers')}>{t('empty.addLink')}</a>
        </p>
      ) : null}
      <p>{t('empty.demo')}</p>
      <pre>{demoCommand}</pre>
      <p>{mayAdd ? t('empty.configureToo') : t('empty.configure')}</p>
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
  const group = useHouse((house) => house.groups.find((one) => one.id === view.group))
  const { q, state } = view
  const looked = [
    q === '' ? null : t('empty.search', { q }),
    state === 'all' ? null : t(`live.states.${state}`),
    group === undefined ? null : t('empty.inGroup', { title: group.title }),
  ].filter((one) => one !== null)
  const everything = { ...view, q: defaultView.q, state: defaultView.state, group: defaultView.group }
  const isEmptyGroup = group !== undefined && q === '' && state === 'all'
  return (
    <Notice title={isEmptyGroup ? t('empty.groupTitle', { title: group.title }) : t('empty.noMatchTitle')}>
      <p>{isEmptyGroup ? t('empty.groupNext') : t('empty.noMatch', { what: looked.join(', ') })}</p>
      <p>
        <a href={`${location.pathname}${searchOf(everything, location.search)}`}>{t('empty.showEverything')}</a>
      </p>
    </Notice>
  )
}
