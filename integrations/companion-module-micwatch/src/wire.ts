/** The parts of Micwatch's live interface, version 2, that this module reads. `docs/websocket.md` describes all of it. */

export type Severity = 'ok' | 'info' | 'warning' | 'critical'

export interface Condition {
  readonly state: string
  readonly severity: Severity
  readonly attention: boolean
  readonly flags: readonly string[]
}

export interface Transmitter {
  readonly name: string | null
  readonly battery: number | null
  readonly forecast: { readonly minutes_left: number } | null
  readonly audio_level: number | null
  readonly rf_level: number | null
  readonly details?: {
    readonly model?: string | null
    readonly muted?: boolean | null
    readonly battery_bars?: number | null
    readonly battery_minutes?: number | null
    readonly battery_type?: string | null
  } | null
}

export interface Channel {
  readonly id: number
  readonly receiver_id: number
  readonly slot: number
  readonly name: string | null
  readonly frequency: string | null
  readonly audio_level: number | null
  readonly rf_level: number | null
  readonly transmitter: Transmitter | null
  readonly condition: Condition
  /** Version 1.0.0 does not send it. */
  readonly not_now?: { readonly by: string } | null
  readonly details?: {
    readonly rf_percent?: number | null
    readonly antennas?: string | null
    readonly quality?: number | null
    readonly muted?: boolean | null
    readonly encryption?: 'off' | 'on' | 'error' | null
  } | null
}

export interface Receiver {
  readonly id: number
  readonly name: string
  readonly is_active: boolean
}

export interface Placeholder {
  readonly slot: number
  readonly name: string
  readonly kind: string
  readonly condition: Condition
}

export interface SlotRecord {
  readonly slot: number
  readonly title: string | null
  readonly performer: { readonly name: string } | null
}

export interface Assignment {
  readonly channel_id: number | null
  readonly performer: { readonly name: string }
}

export interface Group {
  readonly id: number
  readonly title: string
  readonly slots: readonly number[]
}

export interface Alert {
  readonly id: number
  readonly state: 'raised' | 'snoozed' | 'acknowledged' | 'cleared'
  readonly severity: Severity
  readonly message: string
  readonly channel_id: number | null
  readonly raised_at: string
  readonly silenced: boolean
}

export interface Show {
  readonly id: number
  readonly title: string
  readonly state: 'planned' | 'running' | 'ended' | 'deleted'
}

export interface Source {
  readonly address: string
  readonly status: string | null
}

export interface Listener {
  readonly by: string
  /** Null if a channel of a stream was chosen directly. */
  readonly channel_id: number | null
  readonly stream_id: number
  readonly ch: number
}

type ChannelInReceiver = Omit<Channel, 'receiver_id'>
type ReceiverWithChannels = Receiver & { readonly channels: readonly ChannelInReceiver[] }
type Numbered<Type extends string, Fields> = { readonly type: Type; readonly seq: number } & Fields
type Changed<Fields extends { readonly id: number }> = Partial<Omit<Fields, 'id'>> & Pick<Fields, 'id'>

export interface Snapshot {
  readonly receivers: readonly ReceiverWithChannels[]
  readonly placeholders: readonly Placeholder[]
  readonly assignments: readonly Assignment[]
  /** Version 1.0.0 does not send it. */
  readonly slot_records?: readonly SlotRecord[]
  readonly groups: readonly Group[]
  readonly alerts: readonly Alert[]
  readonly shows: readonly Show[]
  readonly sources: readonly Source[]
  /** Null if listening is off. Version 1.0.0 does not send it. */
  readonly listeners?: readonly Listener[] | null
}

export type LiveMessage =
  | Numbered<'snapshot', { readonly epoch: string; readonly data: Snapshot }>
  | Numbered<'resumed', { readonly epoch: string }>
  | Numbered<'receiver', Changed<Receiver>>
  | Numbered<'receiver_added', { readonly receiver: ReceiverWithChannels }>
  | Numbered<'receiver_removed', { readonly id: number }>
  | Numbered<'channel', Changed<Channel> & Pick<Channel, 'receiver_id'>>
  | Numbered<'channel_removed', { readonly id: number }>
  | Numbered<'slots', { readonly values: readonly (readonly [number, number])[] }>
  | Numbered<'placeholders', { readonly placeholders: readonly Placeholder[] }>
  | Numbered<'assignments', { readonly assignments: readonly Assignment[] }>
  | Numbered<'slot_records', { readonly slots: readonly SlotRecord[]; readonly removed: readonly number[] }>
  | Numbered<'groups', { readonly groups: readonly Group[] }>
  | Numbered<'alert', Alert>
  | Numbered<'show', { readonly show: Show }>
  | Numbered<'source', Source>
  | Numbered<'listeners', { readonly listeners: readonly Listener[] }>
  | Numbered<'levels', { readonly at: string; readonly values: readonly LevelEntry[] }>
  | { readonly type: 'tick' | 'status' | 'pong' | 'error' }

/** `[channel_id, rf_level, audio_level, quality]`; nulls at the end are left out. */
export type LevelEntry = readonly [number, (number | null)?, (number | null)?, (number | null)?]

/** Parses a message. Returns null if it has no type. Later versions of Micwatch may add types. */
export function parseMessage(text: string): LiveMessage | null {
  const message: unknown = JSON.parse(text)
  return isMessage(message) ? message : null
}

function isMessage(message: unknown): message is LiveMessage {
  return typeof message === 'object' && message !== null && 'type' in message && typeof message.type === 'string'
}
