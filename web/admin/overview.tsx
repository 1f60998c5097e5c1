/** Where to begin: what waits for a person, and every administrative page with what it is for. */

import type { StoreHealth } from '../../src/model/health.ts'
import { pathOf } from '../../src/model/pages.ts'
import { isObject } from '../api.ts'
import { useSurroundings } from '../context.ts'
import { plainText } from '../format.ts'
import { useSay } from '../parts/messages.tsx'
import { ProblemLine } from '../parts/problem.tsx'
import { Shell } from '../parts/shell.tsx'
import { StateIcon } from '../parts/state-icon.tsx'
import { useSending } from '../reading.ts'
import { useSections } from '../sections.ts'
import { useMay } from '../session.ts'
import '../styles/overview.css'
import { t } from '../i18n.ts'
import { useWaiting } from './waiting.ts'

export function Overview() {
  const { mount } = useSurroundings()
  const sections = useSections()
  return (
    <Shell page="overview" title={t('shell.overview.title')}>
      <WaitsForYou />
      {sections.map(({ name, pages }) => (
        <section key={name} className="overview-section">
          <h2>{t(`shell.sections.${name}`)}</h2>
          <ul className="places">
            {pages.map((page) => (
              <li key={page}>
                <a className="place" href={mount + pathOf(page)}>
                  <strong>{t(`shell.pages.${page}.title`)}</strong>
                  <span>{t(`shell.pages.${page}.description`)}</span>
                </a>
              </li>
            ))}
          </ul>
        </section>
      ))}
    </Shell>
  )
}

function WaitsForYou() {
  const { mount } = useSurroundings()
  const { items, store, problem, reload } = useWaiting()
  const isStoreWell = store === null || store.status === 'healthy'
  return (
    <section
      className="overview-section"
      aria-label={t('shell.overview.todo')}
      aria-busy={items === null && problem === null}
    >
      <h2>{t('shell.overview.todo')}</h2>
      {problem === null ? null : <ProblemLine problem={problem} />}
      {isStoreWell ? null : <StoreNotice store={store} onDone={reload} />}
      {items === null ? (
        <p className="count">{problem === null ? t('parts.loading') : t('shell.overview.unknown')}</p>
      ) : items.length === 0 && isStoreWell ? (
        <p className="count">{t('shell.overview.nothing')}</p>
      ) : (
        <ul className="waiting">
          {items.map(({ key, text, says, path }) => (
            <li key={key}>
              <a href={mount + path}>{text}</a>
              {says === undefined || says === null ? null : <bdi>{plainText(says)}</bdi>}
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}

interface Taken {
  readonly message: string
}

function StoreNotice({ store: { status, details }, onDone }: { store: StoreHealth; onDone: () => Promise<void> }) {
  const { api } = useSurroundings()
  const say = useSay()
  const mayAcknowledge = useMay('administer')
  const { send, isSending } = useSending()
  const acknowledge = async () => {
    const answer = await send(() => api.write('POST', '/api/admin/store/acknowledge', undefined, isObject<Taken>))
    if (answer === null) return
    say(answer.ok ? { text: answer.body.message } : { text: answer.problem.detail, tone: 'alarm' })
    await onDone()
  }
  if (status === 'healthy') return null
  return (
    <div className="store-notice" role="alert">
      <StateIcon state="critical" />
      <p>
        <strong>{t(`shell.overview.store.${status}`)}</strong> {details}
      </p>
      {status !== 'restored' ? null : mayAcknowledge ? (
        <button type="button" className="choice" disabled={isSending} onClick={acknowledge}>
          {t('shell.overview.acknowledge')}
        </button>
      ) : (
        <span>{t('shell.requires.admin')}</span>
      )}
    </div>
  )
}
