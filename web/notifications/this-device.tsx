/** How alerts reach this browser, and which step is missing. */

import { Link } from '@tanstack/react-router'
import { type ReactNode, useSyncExternalStore } from 'react'
import type { NotificationChannelBody, NotificationRuleBody } from '../../src/contract/notifications.ts'
import { pathOf } from '../../src/domain/pages.ts'
import { canNotify } from '../app/alarm.ts'
import { useServices } from '../app/context.ts'
import { formatList, plainText } from '../app/format.ts'
import { t } from '../app/i18n.ts'
import { useResource } from '../app/resource.ts'
import { SoundButton } from '../parts/alerts/sound-button.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { notificationTopics, notifiersPath, rulesPath } from '../parts/notifiers.ts'
import { NotifyButton } from '../parts/toolbar/tools.tsx'
import { AwakeButton, useWakeLock } from '../parts/toolbar/wake-lock.tsx'
import { rulesFor } from './notifier-columns.tsx'

export function ThisDevice() {
  const notifiers = useResource(notifiersPath, 'list', notificationTopics)
  const rules = useResource(rulesPath, 'list', notificationTopics)
  return (
    <>
      <section className="ways">
        <h2>{t('notifications.device.open')}</h2>
        <ul className="rule-list">
          <Sound />
          <Screen />
          <BrowserNotifications />
          <App />
        </ul>
      </section>
      <section className="ways">
        <h2>{t('notifications.device.closed')}</h2>
        <p>{t('notifications.device.closedIntro')}</p>
        <Loaded resource={notifiers}>{(records) => <Services notifiers={records} rules={rules.body ?? []} />}</Loaded>
      </section>
    </>
  )
}

const tones = { ready: 'good', off: 'waiting', missing: 'bad' } as const

interface WayProps {
  readonly title: string
  readonly state: keyof typeof tones
  /** The effect, or the missing step. */
  readonly text: string
  readonly children?: ReactNode
}

function Way({ title, state, text, children }: WayProps) {
  return (
    <li className="rule">
      <h3>
        {title}{' '}
        <span className="tag" data-tone={tones[state]}>
          {t(`notifications.device.states.${state}`)}
        </span>
      </h3>
      <p>{text}</p>
      {children === undefined ? null : <div className="row-actions">{children}</div>}
    </li>
  )
}

function NeedsHttps({ title }: { title: string }) {
  const { mount } = useServices()
  return (
    <Way title={title} state="missing" text={t('notifications.device.https')}>
      <a href={`${mount}/help/security-guide.html`}>{t('notifications.device.httpsGuide')}</a>
    </Way>
  )
}

function Sound() {
  const { alarm } = useServices()
  const { sound } = useSyncExternalStore(alarm.subscribe, alarm.get)
  return (
    <Way
      title={t('notifications.device.sound.title')}
      state={sound === 'on' ? 'ready' : 'off'}
      text={t(`notifications.device.sound.${sound}`)}
    >
      <SoundButton className="choice" />
      <button type="button" className="choice" onClick={() => void alarm.test()}>
        {t('sound.test')}
      </button>
    </Way>
  )
}

function Screen() {
  const lock = useWakeLock()
  const title = t('notifications.device.screen.title')
  if (!isSecureContext) return <NeedsHttps title={title} />
  const step = lock.problem ?? (lock.isOn ? 'on' : 'off')
  const state = step === 'on' ? 'ready' : step === 'off' ? 'off' : 'missing'
  return (
    <Way title={title} state={state} text={t(`notifications.device.screen.${step}`)}>
      <AwakeButton lock={lock} />
    </Way>
  )
}

function BrowserNotifications() {
  const { alarm } = useServices()
  const { isNotifying, isRefused } = useSyncExternalStore(alarm.subscribe, alarm.get)
  const title = t('notifications.device.browser.title')
  if (!isSecureContext) return <NeedsHttps title={title} />
  const step = !canNotify() ? 'unsupported' : isNotifying ? 'on' : isRefused ? 'refused' : 'off'
  const state = step === 'on' ? 'ready' : step === 'off' ? 'off' : 'missing'
  return (
    <Way title={title} state={state} text={t(`notifications.device.browser.${step}`)}>
      {step === 'unsupported' ? undefined : <NotifyButton />}
    </Way>
  )
}

function App() {
  const title = t('notifications.device.app.title')
  const isOpen = matchMedia('(display-mode: standalone)').matches
  if (isOpen) return <Way title={title} state="ready" text={t('notifications.device.app.on')} />
  if (!isSecureContext) return <NeedsHttps title={title} />
  return <Way title={title} state="off" text={t('notifications.device.app.off')} />
}

interface ServicesProps {
  readonly notifiers: readonly NotificationChannelBody[]
  readonly rules: readonly NotificationRuleBody[]
}

/** Those that send to programs, not to people. */
const programs: readonly string[] = ['webhook', 'mqtt']

function Services({ notifiers, rules }: ServicesProps) {
  const shared = { rules }
  const ofType = (type: string) => notifiers.filter((notifier) => notifier.type === type)
  const others = notifiers.filter(({ type }) => type !== 'ntfy' && type !== 'email' && !programs.includes(type))
  return (
    <ul className="rule-list">
      <Service {...shared} title={t('notifications.services.ntfy.name')} kind="ntfy" notifiers={ofType('ntfy')} />
      <Service {...shared} title={t('notifications.services.email.name')} kind="email" notifiers={ofType('email')} />
      {others.length === 0 ? null : (
        <Service {...shared} title={t('notifications.device.others.title')} kind="others" notifiers={others} />
      )}
    </ul>
  )
}

interface ServiceProps extends ServicesProps {
  readonly title: string
  readonly kind: 'ntfy' | 'email' | 'others'
}

function Service({ title, kind, notifiers, rules }: ServiceProps) {
  const used = notifiers.filter(({ id, enabled }) => enabled && rulesFor(rules, id).length > 0)
  const namesOf = (records: typeof notifiers) => formatList(records.map(({ name }) => plainText(name)))
  if (used.length > 0)
    return (
      <Way title={title} state="ready" text={t(`notifications.device.${kind}.ready`, { names: namesOf(used) })}>
        <ToChannels />
      </Way>
    )
  const unused = t('notifications.device.unused', { names: namesOf(notifiers) })
  const text = notifiers.length > 0 || kind === 'others' ? unused : t(`notifications.device.${kind}.missing`)
  return (
    <Way title={title} state="off" text={text}>
      <ToChannels />
    </Way>
  )
}

function ToChannels() {
  return <Link to={pathOf('notifications')}>{t('notifications.device.channels')}</Link>
}
