/** The alarm sound and notifications of this browser. Both are off by default. */

import type { ChannelFacts } from './channel-state.ts'
import { allStaleSince } from './channel-state.ts'
import { t } from './i18n.ts'
import { readLocal, writeLocal } from './local-storage.ts'
import type { Store } from './store.ts'

export interface AlarmState {
  readonly isSounding: boolean
  /** Sound is on, but the browser blocks it until the first user interaction. */
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
    isSounding: readLocal('micwatch.sound') === 'on',
    isWaiting: readLocal('micwatch.sound') === 'on',
    isNotifying: readLocal('micwatch.notify') === 'on' && permission() === 'granted',
    isRefused: permission() === 'denied',
  }
  store.subscribe(() => {
    if (store.get().phase !== 'ready' || allStaleSince(store.get()) !== null) return
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
      writeLocal('micwatch.sound', isSounding ? 'on' : 'off')
      set({ isSounding, isWaiting: isSounding })
      if (!isSounding) return
      await open()
      // Plays the sound once, as a confirmation and to let the user check the volume.
      if (context !== null) sound(context)
    },
    async toggleNotifications() {
      const isEnabling = !state.isNotifying
      const response = isEnabling && permission() === 'default' ? await Notification.requestPermission() : permission()
      const isNotifying = isEnabling && response === 'granted'
      writeLocal('micwatch.notify', isNotifying ? 'on' : 'off')
      set({ isNotifying, isRefused: response === 'denied' })
    },
  }
}

/** `known` is null on the first call, so that problems that already exist when the page opens raise no alarm. */
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

/** Whether the channel needs a technician's intervention. Clipping and RF dips usually end on their own. */
function isAlarm({ state, needsAttention }: ChannelFacts): boolean {
  return needsAttention && ['critical', 'key_error', 'low', 'receiver_lost', 'off_recently'].includes(state)
}

/** Plays two short tones. */
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

/** Browsers support notifications only over HTTPS and on localhost. */
function permission(): NotificationPermission | 'missing' {
  return 'Notification' in window ? Notification.permission : 'missing'
}
