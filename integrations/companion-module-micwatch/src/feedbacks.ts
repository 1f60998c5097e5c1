/**
 * Feedbacks. Those that the Shure module has too have its names and options, with the number of the slot as `channel`.
 * Without a connection to Micwatch, all are false except `disconnected`.
 */

import type {
  CompanionAdvancedFeedbackResult,
  CompanionBooleanFeedbackDefinition,
  CompanionFeedbackDefinitions,
  SomeCompanionFeedbackInputField,
} from '@companion-module/base'
import { channelField } from './channel-field.ts'
import { type ButtonColors, buttonColors } from './colors.ts'
import { drawMeters, metersOf } from './meters.ts'
import { isBatteryCritical, isBatteryLow } from './variables.ts'
import { isCurrent, isIn, lookOf, type SlotStatus, stateNames, type View } from './view.ts'

type ForChannel<More = unknown> = { type: 'boolean'; options: { channel: number } & More }
type ForAll = { type: 'boolean'; options: Record<never, never> }

export type Feedbacks = {
  channel_status: { type: 'advanced'; options: { channel: number } }
  channel_state: ForChannel<{ state: string }>
  attention: ForChannel
  battery_level: ForChannel<{ barlevel: number }>
  battery_low: ForChannel
  battery_critical: ForChannel
  rf_weak: ForChannel
  interference_status: ForChannel
  transmitter_turned_off: ForChannel
  transmitter_muted: ForChannel
  channel_muted: ForChannel
  receiver_offline: ForChannel
  listened: ForChannel
  not_now: ForChannel
  attention_any: ForAll
  alert_open: ForAll
  show_running: ForAll
  disconnected: ForAll
}

/** Records which button displays which slot, so that only the buttons of changed slots are checked again. */
export class FeedbackUses {
  /** Slot by id of the feedback; null for feedbacks about everything. */
  readonly #slots = new Map<string, number | null>()

  add(feedbackId: string, slot: number | null): void {
    this.#slots.set(feedbackId, slot)
  }

  remove(feedbackId: string): void {
    this.#slots.delete(feedbackId)
  }

  /** Returns the ids of the feedbacks of these slots. */
  find(isWanted: (slot: number | null) => boolean): string[] {
    return [...this.#slots].filter(([, slot]) => isWanted(slot)).map(([id]) => id)
  }
}

export function feedbackDefinitions(getView: () => View, uses: FeedbackUses): CompanionFeedbackDefinitions<Feedbacks> {
  const forChannel = <Options extends { channel: number }>(
    name: string,
    colors: ButtonColors,
    options: SomeCompanionFeedbackInputField<Extract<keyof Options, string>>[],
    isTrue: (status: SlotStatus, options: Options) => boolean,
  ): CompanionBooleanFeedbackDefinition<Options> => ({
    type: 'boolean',
    name,
    defaultStyle: { ...colors },
    options,
    callback: ({ id, options }) => {
      uses.add(id, options.channel)
      const { isConnected, slots } = getView()
      const status = slots.get(options.channel)
      return isConnected && status !== undefined && isTrue(status, options)
    },
    unsubscribe: ({ id }) => uses.remove(id),
  })
  const forAll = (
    name: string,
    colors: ButtonColors,
    isTrue: (view: View) => boolean,
  ): CompanionBooleanFeedbackDefinition<Record<never, never>> => ({
    type: 'boolean',
    name,
    defaultStyle: { ...colors },
    options: [],
    callback: ({ id }) => {
      uses.add(id, null)
      return isTrue(getView())
    },
    unsubscribe: ({ id }) => uses.remove(id),
  })
  const { ok, info, warning, critical, off, offline } = buttonColors
  return {
    channel_status: {
      type: 'advanced',
      name: 'Channel status display',
      description: 'Color by severity, and meters of battery and RF at the lower edge.',
      options: [channelField],
      callback: ({ id, options, image }) => {
        uses.add(id, options.channel)
        return displayChannel(getView(), options.channel, image)
      },
      unsubscribe: ({ id }) => uses.remove(id),
    },
    channel_state: forChannel<{ channel: number; state: string }>(
      'Channel state',
      info,
      [channelField, stateField],
      (status, { state }) => isIn(status, state),
    ),
    attention: forChannel('Channel needs attention', critical, [channelField], ({ condition }) => condition.attention),
    battery_level: forChannel<{ channel: number; barlevel: number }>(
      'Battery level',
      critical,
      [channelField, barsField],
      (status, { barlevel }) => isCurrent(status) && (status.battery?.bars ?? Number.POSITIVE_INFINITY) <= barlevel,
    ),
    battery_low: forChannel('Battery low', warning, [channelField], isBatteryLow),
    battery_critical: forChannel('Battery critical or died', critical, [channelField], isBatteryCritical),
    rf_weak: forChannel('RF weak', warning, [channelField], (status) => isIn(status, 'rf_weak')),
    interference_status: forChannel('Interference status', warning, [channelField], (status) =>
      isIn(status, 'interference'),
    ),
    transmitter_turned_off: forChannel('Transmitter turned off', off, [channelField], (status) =>
      isIn(status, 'tx_off'),
    ),
    transmitter_muted: forChannel(
      'Transmitter muted',
      info,
      [channelField],
      (status) => isCurrent(status) && status.isTransmitterMuted === true,
    ),
    channel_muted: forChannel('Channel muted', info, [channelField], (status) => isCurrent(status) && isMuted(status)),
    receiver_offline: forChannel('Receiver offline or silent', offline, [channelField], (status) => !isCurrent(status)),
    listened: forChannel(
      'Someone listens to the channel',
      info,
      [channelField],
      ({ listeners }) => listeners.length > 0,
    ),
    not_now: forChannel('Not now', off, [channelField], ({ isNotNow }) => isNotNow),
    attention_any: forAll('Any channel needs attention', critical, ({ isConnected, slots }) => {
      return isConnected && [...slots.values()].some(({ condition }) => condition.attention)
    }),
    alert_open: forAll(
      'There are alerts to acknowledge',
      critical,
      ({ isConnected, alerts }) => isConnected && alerts.length > 0,
    ),
    show_running: forAll(
      'A show is running',
      ok,
      ({ isConnected, runningShow }) => isConnected && runningShow !== null,
    ),
    disconnected: forAll('No connection to Micwatch', offline, ({ isConnected }) => !isConnected),
  }
}

const stateField = {
  id: 'state',
  type: 'dropdown',
  label: 'State',
  default: 'battery_low',
  choices: Object.entries(stateNames).map(([id, label]) => ({ id, label })),
} satisfies SomeCompanionFeedbackInputField<'state'>

const barsField = {
  id: 'barlevel',
  type: 'number',
  label: 'Bars',
  default: 2,
  min: 1,
  max: 5,
  range: true,
} satisfies SomeCompanionFeedbackInputField<'barlevel'>

const isMuted = (status: SlotStatus) => status.isReceiverMuted === true || isIn(status, 'muted')

function displayChannel(
  view: View,
  slot: number,
  image: { readonly width: number; readonly height: number } | undefined,
): CompanionAdvancedFeedbackResult {
  const status = view.slots.get(slot)
  const colors = buttonColors[lookOf(status, view.isConnected)]
  const meters = metersOf(status, view.isConnected)
  if (image === undefined || (meters.battery === null && meters.rf === null)) return { ...colors }
  return { ...colors, ...drawMeters(meters, image) }
}

/** Returns everything on which the feedbacks of a slot depend, as text to compare. */
export function feedbackKey(status: SlotStatus | undefined, isConnected: boolean): string {
  if (status === undefined || !isConnected) return ''
  const { condition, isTransmitterMuted, isReceiverMuted, isNotNow, listeners } = status
  return JSON.stringify([
    condition,
    isTransmitterMuted,
    isReceiverMuted,
    metersOf(status, isConnected),
    status.battery?.bars,
    isNotNow,
    listeners.length > 0,
  ])
}

/** As `feedbackKey`, for the feedbacks about everything. */
export function overviewKey({ isConnected, slots, alerts, runningShow }: View): string {
  const hasAttention = [...slots.values()].some(({ condition }) => condition.attention)
  return JSON.stringify([isConnected, hasAttention, alerts.length > 0, runningShow !== null])
}
