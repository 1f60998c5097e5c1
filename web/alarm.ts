/** The alarm of this device: a sound, and notifications of the browser; both off until somebody wants them. */

import type { ChannelFacts } from './channel-state.ts'
import { houseStaleSince } from './channel-state.ts'
import { t } from './i18n.ts'
import { keep, recall } from './memory.ts'
import type { Store } from './store.ts'

export interface AlarmState {
  readonly isSounding: boolean
  /** Wanted, but the browser plays nothing before somebody has pressed something. */
  readonly isWaiting: boolean
  readonly isNotifying: boolean
  readonly isRefused: boolean
}

export interface Alarm {
  get(): AlarmState
  subscribe(listener: () => void): () => void
  toggleSound(): Promise<void>
  toggleNotifications(): Promise<void>
}

export function createAlarm(store: Store): Alarm {
  const listeners = new Set<() => void>()
  let context: AudioContext | null = null
  let known: ReadonlySet<number> | null = null
  let state: AlarmState = {
    isSounding: recall('micwatch.sound') === 'on',
    isWaiting: recall('micwatch.sound') === 'on',
    isNotifying: recall('micwatch.notify') === 'on' && permission() === 'granted',
    isRefused: permission() === 'denied',
  }
  store.subscribe(() => {
    if (store.get().phase !== 'ready' || houseStaleSince(store.get()) !== null) return
    const { alarms, fresh } = newAlarms(known, store.cards())
    known = alarms
    if (fresh.length === 0) return
    if (state.isSounding && context !== null) sound(context)
    if (state.isNotifying) for (const card of fresh) notify(card)
  })
  if (state.isSounding) {
    for (const name of ['pointerdown', 'keydown']) addEventListener(name, () => void open(), { once: true })
  }

  function set(change: Partial<AlarmState>) {
    state = { ...state, ...change }
    for (const listener of listeners) listener()
  }

  async function open() {
    if (!state.isSounding) return
    context ??= new AudioContext()
    await context.resume()
    set({ isWaiting: false })
  }

  return {
    get: () => state,
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    async toggleSound() {
      const isSounding = !state.isSounding || state.isWaiting
      keep('micwatch.sound', isSounding ? 'on' : 'off')
      set({ isSounding, isWaiting: isSounding })
      if (!isSounding) return
      await open()
      // So that whoever switches it on hears that it works, and how loud it is.
      if (context !== null) sound(context)
    },
    async toggleNotifications() {
      const wanted = !state.isNotifying
      const answer = wanted && permission() === 'default' ? await Notification.requestPermission() : permission()
      const isNotifying = wanted && answer === 'granted'
      keep('micwatch.notify', isNotifying ? 'on' : 'off')
      set({ isNotifying, isRefused: answer === 'denied' })
    },
  }
}

/** `known: null` is the first look: what is wrong already is on the screen, and startles nobody. */
export function newAlarms(
  known: ReadonlySet<number> | null,
  cards: readonly ChannelFacts[],
): { alarms: ReadonlySet<number>; fresh: readonly ChannelFacts[] } {
  const alarming = cards.filter(isAlarm)
  return {
    alarms: new Set(alarming.map((card) => card.channelId)),
    fresh: known === null ? [] : alarming.filter((card) => !known.has(card.channelId)),
  }
}

/** What somebody has to walk for; a peak or a dip passes by itself. */
function isAlarm({ state, needsHand }: ChannelFacts): boolean {
  return needsHand && ['critical', 'key_error', 'low', 'receiver_lost', 'off_recently'].includes(state)
}

/** Two short tones, unlike anything a PA makes. */
function sound(context: AudioContext) {
  for (const [at, hertz] of [
    [0, 880],
    [0.18, 660],
  ] as const) {
    const tone = new OscillatorNode(context, { type: 'triangle', frequency: hertz })
    const volume = new GainNode(context, { gain: 0 })
    const start = context.currentTime + at
    volume.gain.setValueAtTime(0, start)
    volume.gain.linearRampToValueAtTime(0.35, start + 0.01)
    volume.gain.linearRampToValueAtTime(0, start + 0.15)
    tone.connect(volume).connect(context.destination)
    tone.start(start)
    tone.stop(start + 0.16)
  }
}

function notify({ channelId, slot, receiverName, name, state }: ChannelFacts) {
  const title = t('live.alarm.notification', { name: name ?? t('card.noName'), state: t(`states.${state}`) })
  new Notification(title, {
    body: t('live.alarm.slot', { slot, receiver: receiverName }),
    tag: `micwatch-${channelId}`,
  })
}

/** Browsers have notifications on https and on this machine only. */
function permission(): NotificationPermission | 'missing' {
  return 'Notification' in window ? Notification.permission : 'missing'
}
