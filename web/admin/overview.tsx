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
import { words } from '../words.ts'
import { useWaiting } from './waiting.ts'

const texts = words.shell.overview

export function Overview() {
  const { mount } = useSurroundings()
  const sections = useSections()
  return (
    <Shell page="overview" title={texts.title}>
      <WaitsForYou />
      {sections.map(({ name, pages }) => (
        <section key={name} className="overview-section">
          <h2>{words.shell.sections[name]}</h2>
          <ul className="places">
            {pages.map((page) => (
              <li key={page}>
                <a className="place" href={mount + pathOf(page)}>
                  <strong>{words.shell.pages[page].title}</strong>
                  <span>{words.shell.pages[page].says}</span>
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
    <section className="overview-section" aria-label={texts.waits} aria-busy={items === null && problem === null}>
      <h2>{texts.waits}</h2>
      {problem === null ? null : <ProblemLine problem={problem} />}
      {isStoreWell ? null : <StoreNotice store={store} onDone={reload} />}
      {items === null ? (
        <p className="count">{problem === null ? words.parts.loading : texts.unknown}</p>
      ) : items.length === 0 && isStoreWell ? (
        <p className="count">{texts.nothing}</p>
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
        <strong>{texts.store[status]}</strong> {details}
      </p>
      {status !== 'restored' ? null : mayAcknowledge ? (
        <button type="button" className="choice" disabled={isSending} onClick={acknowledge}>
          {texts.acknowledge}
        </button>
      ) : (
        <span>{words.shell.takes(words.shell.roles.admin)}</span>
      )}
    </div>
  )
}
