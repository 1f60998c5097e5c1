/**
 * The alarm sound and the notifications of this browser. Both are off by default. The sound repeats while an alert is
 * raised that this device has chosen: until it is acknowledged, snoozed, silenced or cleared, on whichever screen.
 */

import type { AlertBody } from '../src/contract/resources/alerts.ts'
import { type AlarmChoice, listAlarms, parseAlarmChoice } from './alarm-choice.ts'
import { createAlarmLoop } from './alarm-loop.ts'
import { type AlarmSeverity, playAlarm } from './alarm-sound.ts'
import { alertLine, alertReason } from './alert-text.ts'
import { allStaleSince } from './channel-state.ts'
import { readLocal, writeLocal } from './local-storage.ts'
import type { Store } from './store.ts'

export interface AlarmState {
  /** `blocked`: the sound is on, but the browser plays nothing until the user interacts with the page. */
  readonly sound: 'on' | 'off' | 'blocked'
  readonly choice: AlarmChoice
  readonly isNotifying: boolean
  readonly isRefused: boolean
}

export interface Alarm {
  get(): AlarmState
  subscribe(listener: () => void): () => void
  /** Turns the sound on or off; enables it if the browser blocks it. */
  toggleSound(): Promise<void>
  /** Plays the alarm once, whether the sound is on or off. */
  test(): Promise<void>
  choose(choice: AlarmChoice): void
  toggleNotifications(): Promise<void>
  /** Interrupts sound and notifications until the returned function is called. */
  hold(): () => void
}

/** The sound plays once when the connection has been lost for this long, because no alert can arrive then. */
const lostMs = 10_000
const keys = { sound: 'micwatch.sound', notify: 'micwatch.notify', choice: 'micwatch.alarm' } as const

export function createAlarm(store: Pick<Store, 'get' | 'subscribe'>): Alarm {
  const listeners = new Set<() => void>()
  let context: AudioContext | null = null
  let state: AlarmState = {
    sound: 'off',
    choice: parseAlarmChoice(readLocal(keys.choice)),
    isNotifying: readLocal(keys.notify) === 'on' && permission() === 'granted',
    isRefused: permission() === 'denied',
  }
  /** The alerts that this device has chosen, by id, as of the latest current state; null before the first one. */
  let alarms: ReadonlyMap<number, AlertBody> | null = null
  const loop = createAlarmLoop(sound)
  let isLossReported = false
  let isHeld = false

  store.subscribe(follow)
  if (readLocal(keys.sound) === 'on') turnOn()
  // After the events that buttons respond to, so that the sound button finds the sound blocked and does not turn it off.
  for (const name of ['click', 'keyup']) addEventListener(name, () => void unblock())
  // Other pages of this browser change the same settings.
  addEventListener('storage', ({ key }) => {
    if (key === keys.choice) set({ choice: parseAlarmChoice(readLocal(keys.choice)) })
    if (key !== keys.sound) return
    if (readLocal(keys.sound) !== 'on') set({ sound: 'off' })
    else if (state.sound === 'off') turnOn()
  })

  /** Starts, repeats and ends the alarm as the live state requires. */
  function follow() {
    const watchState = store.get()
    if (watchState.phase !== 'ready' || isHeld) return
    const staleSince = allStaleSince(watchState)
    if (staleSince !== null) return followLoss(watchState.now - staleSince)
    isLossReported = false
    const before = alarms
    alarms = new Map(listAlarms(watchState, state.choice).map((alert) => [alert.id, alert]))
    const fresh = [...alarms.values()].filter(({ id }) => before?.has(id) !== true)
    loop.update([...alarms.values()])
    // Alerts that exist when the page opens sound, but they are no news.
    if (state.isNotifying && before !== null) for (const alert of fresh) notify(alert)
  }

  /** While the values are stale, a user may have responded already, so the alarm does not repeat. */
  function followLoss(ageMs: number) {
    loop.stop()
    if (ageMs < lostMs || isLossReported) return
    isLossReported = true
    sound('critical')
  }

  function sound(severity: AlarmSeverity) {
    if (state.sound === 'on' && context !== null) playAlarm(context, severity)
  }

  function set(change: Partial<AlarmState>) {
    state = { ...state, ...change }
    for (const listener of listeners) listener()
  }

  /** Turns the sound on, as far as the browser allows it. */
  function turnOn() {
    const opened = openContext()
    set({ sound: opened.state === 'running' ? 'on' : 'blocked' })
  }

  function openContext(): AudioContext {
    if (context !== null) return context
    context = new AudioContext()
    // Browsers announce the end of blocking, and interruptions such as phone calls.
    context.addEventListener('statechange', () => {
      if (state.sound === 'off' || context === null) return
      const isUnblocked = state.sound === 'blocked' && context.state === 'running'
      set({ sound: context.state === 'running' ? 'on' : 'blocked' })
      // What was raised while the browser blocked the sound.
      if (isUnblocked) loop.play()
    })
    return context
  }

  async function unblock() {
    if (state.sound === 'blocked') await context?.resume()
  }

  return {
    get: () => state,
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    async toggleSound() {
      const before = state.sound
      writeLocal(keys.sound, before === 'on' ? 'off' : 'on')
      if (before === 'on') return set({ sound: 'off' })
      await openContext().resume()
      turnOn()
      // Plays the sound once, as a confirmation and to let the user check the volume.
      if (!loop.isActive) sound('critical')
      else if (before === 'off') loop.play()
    },
    async test() {
      const opened = openContext()
      await opened.resume()
      playAlarm(opened, 'critical')
    },
    choose(choice) {
      writeLocal(keys.choice, JSON.stringify(choice))
      set({ choice })
      follow()
    },
    async toggleNotifications() {
      const isEnabling = !state.isNotifying
      const response = isEnabling && permission() === 'default' ? await Notification.requestPermission() : permission()
      const isNotifying = isEnabling && response === 'granted'
      writeLocal(keys.notify, isNotifying ? 'on' : 'off')
      set({ isNotifying, isRefused: response === 'denied' })
    },
    hold() {
      isHeld = true
      loop.stop()
      return () => {
        isHeld = false
        follow()
      }
    },
  }
}

function notify(alert: AlertBody) {
  new Notification(alertLine(alert), { body: alertReason(alert) ?? '', tag: `micwatch-${alert.id}` })
}

/** Browsers support notifications only over HTTPS and on localhost. */
function permission(): NotificationPermission | 'missing' {
  return 'Notification' in window ? Notification.permission : 'missing'
}
