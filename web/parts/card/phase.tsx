import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { pathOf } from '../../../src/domain/pages.ts'
import { useServices, useWatchState } from '../../app/context.ts'
import { t } from '../../app/i18n.ts'
import { useIsKiosk } from '../../app/query.ts'
import { signInPath, useResource } from '../../app/resource.ts'
import { useSession } from '../../app/session.ts'
import { addressOf, changeView, defaultView, type View } from '../../app/view.ts'
import { useVisibleSlots } from '../channels/visible-slots.ts'
import { Notice } from '../dialogs/notice.tsx'
import { manufacturerName, useManufacturerNames } from '../equipment/manufacturer-names.tsx'

export function Phase({ view, children }: { view: View; children: (entries: string) => ReactNode }) {
  const entries = useVisibleSlots(view)
  return <LivePhase>{entries === '' ? <Empty view={view} /> : children(entries)}</LivePhase>
}

export function LivePhase({ children }: { children: ReactNode }) {
  const phase = useWatchState((watchState) => watchState.phase)
  if (phase === 'loading') return <Notice title={t('loading.title')} />
  if (phase === 'failed') return <Failed />
  return children
}

function Failed() {
  const { mount, live, replay } = useServices()
  const isKiosk = useIsKiosk()
  const problem = useWatchState((watchState) => watchState.problem)
  if (problem === null) return null
  return (
    <Notice title={replay === null ? t(`problems.${problem.kind}.title`) : t('replay.unavailable')}>
      <p role="alert">{problem.detail}</p>
      {replay === null ? <p>{t(`problems.${problem.kind}.next`)}</p> : null}
      {problem.kind === 'sign_in' && !isKiosk ? (
        <p>
          <a href={signInPath(mount)}>{t('shell.signIn')}</a>
        </p>
      ) : null}
      {isKiosk ? null : (
        <button type="button" className="action" onClick={live.retry}>
          {t('failed.retry')}
        </button>
      )}
    </Notice>
  )
}

function Empty({ view }: { view: View }) {
  const { manufacturer } = view
  const hasChannels = useWatchState((watchState) => watchState.receivers.size > 0)
  const nameOf = useManufacturerNames()
  const names = useWatchState((watchState) =>
    (watchState.health?.manufacturers ?? [])
      .filter((manufacturer) => manufacturer.status !== 'disabled')
      .map((manufacturer) => manufacturerName(watchState, manufacturer.code))
      .join(', '),
  )
  if (hasChannels) return <NothingFound view={view} />
  if (manufacturer !== null) {
    return (
      <Notice title={t('empty.filtered', { name: nameOf(manufacturer) })}>
        <p>
          <ViewLink view={{ ...view, manufacturer: null }}>{t('empty.showAll')}</ViewLink>
        </p>
      </Notice>
    )
  }
  if (names !== '') {
    return (
      <Notice title={t('empty.noReceiversTitle')}>
        <p>{t('empty.noReceivers', { names })}</p>
      </Notice>
    )
  }
  return <NothingConfigured />
}

function ViewLink({ view, children }: { view: View; children: ReactNode }) {
  if (useIsKiosk()) return null
  return (
    <Link to="." search={addressOf(view)}>
      {children}
    </Link>
  )
}

function NothingConfigured() {
  const { mount } = useServices()
  const session = useSession()
  const { body: setup } = useResource('/api/auth/setup', 'object')
  const isKiosk = useIsKiosk()
  if (isKiosk) return <Notice title={t('empty.title')} />
  const mayAdd = session?.permissions.includes('administer') === true
  const isSetupNeeded = setup?.needed === true
  return (
    <Notice title={t('empty.title')}>
      {mayAdd ? (
        <>
          <Link className="action" to={pathOf('find')}>
            {t('shell.pages.find.title')}
          </Link>
          <p>
            {t('empty.addNow')} <Link to={pathOf('manufacturers')}>{t('empty.addLink')}</Link>
          </p>
        </>
      ) : isSetupNeeded ? (
        <>
          <p>{t('empty.setUpFirst')}</p>
          <a className="action" href={mount + pathOf('set_up')}>
            {t('empty.setUp')}
          </a>
        </>
      ) : null}
      <p>{t('empty.demo')}</p>
      <pre>{demoCommand}</pre>
      <p>{mayAdd || isSetupNeeded ? t('empty.configureToo') : t('empty.configure')}</p>
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

function NothingFound({ view }: { view: View }) {
  const group = useWatchState((watchState) => watchState.groups.find((group) => group.id === view.group))
  const { q, state } = view
  const looked = [
    q === '' ? null : t('empty.search', { q }),
    state === 'all' ? null : t(`live.states.${state}`),
    group === undefined ? null : t('empty.inGroup', { title: group.title }),
  ].filter((item) => item !== null)
  const { state: everyState, group: everyGroup } = defaultView
  const everything = changeView(view, { q: '', state: everyState, group: everyGroup }, '')
  const isEmptyGroup = group !== undefined && q === '' && state === 'all'
  return (
    <Notice title={isEmptyGroup ? t('empty.groupTitle', { title: group.title }) : t('empty.noMatchTitle')}>
      <p>{isEmptyGroup ? t('empty.groupNext') : t('empty.noMatch', { what: looked.join(', ') })}</p>
      <p>
        <ViewLink view={everything}>{t('empty.showEverything')}</ViewLink>
      </p>
    </Notice>
  )
}
