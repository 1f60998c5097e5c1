/**
 * Sound and notifications are off by default. The sound repeats until the alert is acknowledged, snoozed, silenced or
 * cleared on any screen.
 */

import type { AlertBody } from '../../src/contract/alerts.ts'
import { alertLine, alertPeople, alertReason } from '../parts/alerts/alert-text.ts'
import { type AlarmChoice, formatAlarmChoice, listAlarms, parseAlarmChoice } from './alarm-choice.ts'
import { type AlarmSeverity, createAlarmLoop, playAlarm } from './alarm-loop.ts'
import { allStaleSince } from './channel-state.ts'
import { readLocal, writeLocal } from './local-storage.ts'
import { serviceNow } from './service-time.ts'
import type { Watch } from './watch.ts'

export interface AlarmState {
  /** `blocked`: the sound is on, but the browser plays nothing until the user interacts with the page. */
  readonly sound: 'on' | 'off' | 'blocked'
  readonly choice: AlarmChoice
  readonly isNotifying: boolean
  readonly isRefused: boolean
}

/** Without a connection, no alert can arrive, so the sound plays once after this time. */
const lostMs = 10_000
/** After a loss, the responses of other screens arrive within this time. */
const missedMs = 1_000
const keys = { sound: 'micwatch.sound', notify: 'micwatch.notify', choice: 'micwatch.alarm' } as const

export class Alarm {
  readonly #watch: Pick<Watch, 'get' | 'subscribe'>
  readonly #listeners = new Set<() => void>()
  readonly #loop = createAlarmLoop((severity) => this.#repeat(severity))
  #context: AudioContext | null = null
  #state: AlarmState = {
    sound: 'off',
    choice: readChoice(),
    isNotifying: readLocal(keys.notify) === 'on' && permission() === 'granted',
    isRefused: permission() === 'denied',
  }
  /** By id, as of the latest current state. Null before the first one. */
  #alarms: ReadonlyMap<number, AlertBody> | null = null
  #isLossReported = false
  #wasLost = false
  #isCatchingUp = false
  #isHeld = false

  constructor(watch: Pick<Watch, 'get' | 'subscribe'>) {
    this.#watch = watch
    watch.subscribe(() => this.#follow())
    if (readLocal(keys.sound) === 'on') this.#turnOn()
    // After the events that buttons respond to, so that the sound button finds the sound blocked and does not turn it
    // off.
    for (const name of ['click', 'keyup']) addEventListener(name, () => void this.#unblock())
    addEventListener('storage', ({ key }) => this.#followOtherPage(key))
  }

  // Bound, because components pass them to `useSyncExternalStore`.
  readonly get = (): AlarmState => this.#state

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Enables the sound if the browser blocks it. */
  async toggleSound(): Promise<void> {
    const before = this.#state.sound
    writeLocal(keys.choice, formatAlarmChoice(this.#state.choice))
    writeLocal(keys.sound, before === 'on' ? 'off' : 'on')
    if (before === 'on') {
      this.#set({ sound: 'off' })
      return
    }
    await this.#openContext().resume()
    this.#turnOn()
    // Lets the user check the volume.
    if (!this.#loop.isActive) this.#sound('critical')
    else if (before === 'off') this.#loop.play()
  }

  async test(): Promise<void> {
    const opened = this.#openContext()
    await opened.resume()
    playAlarm(opened, 'critical')
  }

  choose(choice: AlarmChoice): void {
    writeLocal(keys.choice, formatAlarmChoice(choice))
    this.#set({ choice })
    this.#follow()
  }

  async toggleNotifications(): Promise<void> {
    const isEnabling = !this.#state.isNotifying
    const response = isEnabling && permission() === 'default' ? await Notification.requestPermission() : permission()
    const isNotifying = isEnabling && response === 'granted'
    writeLocal(keys.notify, isNotifying ? 'on' : 'off')
    this.#set({ isNotifying, isRefused: response === 'denied' })
  }

  hold(): () => void {
    this.#isHeld = true
    this.#loop.stop()
    return () => {
      this.#isHeld = false
      this.#follow()
    }
  }

  #follow(): void {
    const watchState = this.#watch.get()
    if (watchState.phase !== 'ready' || this.#isHeld) return
    const staleSince = allStaleSince(watchState)
    if (staleSince !== null) {
      this.#followLoss(watchState.now - staleSince)
      return
    }
    this.#isLossReported = false
    if (this.#wasLost) this.#catchUp()
    if (this.#isCatchingUp) return
    const before = this.#alarms
    const alarms = new Map(listAlarms(watchState, this.#state.choice).map((alert) => [alert.id, alert]))
    this.#alarms = alarms
    const fresh = [...alarms.values()].filter(({ id }) => before?.has(id) !== true)
    this.#loop.update([...alarms.values()])
    // Alerts that exist when the page opens sound, but cause no notification.
    if (this.#state.isNotifying && before !== null) for (const alert of fresh) notify(alert)
  }

  /** While the values are stale, a user may have responded already, so the alarm does not repeat. */
  #followLoss(ageMs: number): void {
    this.#loop.stop()
    this.#wasLost = true
    if (ageMs < lostMs || this.#isLossReported) return
    this.#isLossReported = true
    this.#sound('critical')
  }

  #catchUp(): void {
    this.#wasLost = false
    this.#isCatchingUp = true
    setTimeout(() => {
      this.#isCatchingUp = false
      this.#follow()
    }, missedMs)
  }

  /** After the computer was asleep, this may run before the page has noticed that its values are stale. */
  #repeat(severity: AlarmSeverity): void {
    if (allStaleSince({ ...this.#watch.get(), now: serviceNow() }) === null) this.#sound(severity)
  }

  #followOtherPage(key: string | null): void {
    if (key === keys.choice) this.#set({ choice: readChoice() })
    if (key !== keys.sound) return
    if (readLocal(keys.sound) !== 'on') this.#set({ sound: 'off' })
    else if (this.#state.sound === 'off') this.#turnOn()
  }

  #sound(severity: AlarmSeverity): void {
    if (this.#state.sound === 'on' && this.#context !== null) playAlarm(this.#context, severity)
  }

  #set(change: Partial<AlarmState>): void {
    this.#state = { ...this.#state, ...change }
    for (const listener of this.#listeners) listener()
  }

  /** Turns the sound on, as far as the browser allows it. */
  #turnOn(): void {
    this.#set({ sound: this.#openContext().state === 'running' ? 'on' : 'blocked' })
  }

  #openContext(): AudioContext {
    if (this.#context !== null) return this.#context
    const context = new AudioContext()
    this.#context = context
    // Browsers announce the end of blocking, and interruptions such as phone calls.
    context.addEventListener('statechange', () => {
      if (this.#state.sound === 'off') return
      const isUnblocked = this.#state.sound === 'blocked' && context.state === 'running'
      this.#set({ sound: context.state === 'running' ? 'on' : 'blocked' })
      // Alerts raised while the browser blocked the sound.
      if (isUnblocked) this.#loop.play()
    })
    return context
  }

  async #unblock(): Promise<void> {
    if (this.#state.sound === 'blocked') await this.#context?.resume()
  }
}

/** A sound that 1.0.0 turned on may have no stored choice. */
function readChoice(): AlarmChoice {
  return parseAlarmChoice(readLocal(keys.choice) ?? (readLocal(keys.sound) === null ? null : '{}'))
}

function notify(alert: AlertBody): void {
  const body = [alertPeople(alert), alertReason(alert)].filter((line) => line !== null).join('\n')
  createNotification(alertLine(alert), { body, tag: `micwatch-${alert.id}` })
}

let isConstructible: boolean | undefined

/**
 * Browsers support notifications only over HTTPS and on localhost. On phones, most support only those of a service worker,
 * and throw an error.
 */
export function canNotify(): boolean {
  if (!isSecureContext || !('Notification' in window)) return false
  // Without permission, it shows nothing.
  if (isConstructible === undefined && Notification.permission !== 'granted') createNotification('')
  return isConstructible ?? true
}

function createNotification(...values: ConstructorParameters<typeof Notification>): void {
  try {
    new Notification(...values)
    isConstructible = true
  } catch {
    isConstructible = false
  }
}

function permission(): NotificationPermission | 'missing' {
  return 'Notification' in window ? Notification.permission : 'missing'
}
