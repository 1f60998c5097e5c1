/**
 * What some gear tells beyond the interface specification, in one set of words for all protocols. A field that was never
 * told is absent; one that is told and unknown is null. Every value is plain, so that two readings compare cheaply.
 */

export const encryptions = ['off', 'on', 'error'] as const
export type Encryption = (typeof encryptions)[number]

/** How loud a channel is, of gear that tells no dBFS. */
export const audioActivities = ['low', 'good', 'clipping'] as const
export type AudioActivity = (typeof audioActivities)[number]

/** What equipment reports as wrong with itself, or with a pack in one of its bays. */
export const faults = [
  'self_test_failed',
  'battery_error',
  'unknown_module',
  'unrecognized_battery',
  'recovery_failed',
  'charge_failed',
  'check_battery',
  'check_charger',
  'communication_failure',
  'too_hot',
  'too_cold',
  'storage_mode',
] as const
export type Fault = (typeof faults)[number]

/** Of a receiver or charger as a whole. */
export interface ReceiverDetails {
  /** Null: it reported none. */
  readonly fault?: Fault | null
}

/** Of a channel of a receiver. RF in whole dBm, audio in whole dBFS. */
export interface ChannelDetails {
  readonly rf_a?: number | null
  readonly rf_b?: number | null
  readonly rf_c?: number | null
  readonly rf_d?: number | null
  /** Of gear that shows RF as a share of its scale and tells no dBm. */
  readonly rf_percent?: number | null
  /** The equipment's own warning that RF is hardly above the squelch. */
  readonly rf_low?: boolean | null
  /** Letters of the antennas in use: `A`, `AB`, or nothing. */
  readonly antennas?: string | null
  readonly audio_peak?: number | null
  readonly audio_rms?: number | null
  readonly audio_activity?: AudioActivity | null
  /** The equipment's own warning that audio is too loud. */
  readonly overload?: boolean | null
  /** Percent. */
  readonly quality?: number | null
  readonly interference?: boolean | null
  /** MHz, of the second carrier of a channel with frequency diversity. */
  readonly second_frequency?: string | null
  /** The receiver's output; the transmitter has its own. */
  readonly muted?: boolean | null
  readonly encryption?: Encryption | null
  /** Gain of the receiver's output. */
  readonly gain_db?: number | null
}

/** Of the transmitter heard on it. */
export interface TransmitterDetails {
  readonly model?: string | null
  readonly muted?: boolean | null
  /** What is added at the transmitter: its offset, or trim. */
  readonly gain_db?: number | null
  readonly power_mw?: number | null
  /** 0 to 5, as the device shows it. */
  readonly battery_bars?: number | null
  readonly battery_minutes?: number | null
  /** Of one that is being charged. */
  readonly battery_minutes_to_full?: number | null
  readonly battery_type?: string | null
  /** Percent of what it held when it was new. */
  readonly battery_health?: number | null
  readonly battery_cycles?: number | null
  readonly battery_temperature_c?: number | null
  /** `battery` is worked out from the bars; the gear told no percentage. */
  readonly battery_is_estimate?: boolean
  /** The equipment's own warning. */
  readonly battery_low?: boolean | null
  /** Of a pack in a charger. Null: the charger reported none. */
  readonly fault?: Fault | null
}
