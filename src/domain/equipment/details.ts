/**
 * Additional values that only some equipment reports, under the same names for all protocols. A field that was never
 * reported is absent; a field that was reported without a value is null. All values are primitive, so that comparing
 * two readings is cheap.
 */

export const encryptions = ['off', 'on', 'error'] as const
export type Encryption = (typeof encryptions)[number]

/** Audio levels of equipment that does not report dBFS. */
export const audioActivities = ['low', 'good', 'clipping'] as const
export type AudioActivity = (typeof audioActivities)[number]

/** Faults that equipment reports for itself or for a pack in one of its bays. */
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

/** Details of a receiver or charger as a whole. */
export interface ReceiverDetails {
  /** Null if the equipment reported that there is no fault. */
  readonly fault?: Fault | null
}

/** Details of a receiver channel. RF in whole dBm, audio in whole dBFS. */
export interface ChannelDetails {
  readonly rf_a?: number | null
  readonly rf_b?: number | null
  readonly rf_c?: number | null
  readonly rf_d?: number | null
  /** RF level in percent of full scale, for equipment that does not report dBm. */
  readonly rf_percent?: number | null
  /** Warning by the equipment that the RF level is close to the squelch threshold. */
  readonly rf_low?: boolean | null
  /** The antennas in use: `A`, `AB`, or an empty string. */
  readonly antennas?: string | null
  readonly audio_peak?: number | null
  readonly audio_rms?: number | null
  readonly audio_activity?: AudioActivity | null
  /** Warning by the equipment that the audio level is too high. */
  readonly overload?: boolean | null
  /** Link quality in percent. */
  readonly quality?: number | null
  readonly interference?: boolean | null
  /** The frequency of the second carrier in MHz, on a channel with frequency diversity. */
  readonly second_frequency?: string | null
  /** Mute of the receiver's output. The transmitter has its own mute. */
  readonly muted?: boolean | null
  readonly encryption?: Encryption | null
  /** Gain of the receiver's output. */
  readonly gain_db?: number | null
}

/** Details of a transmitter. */
export interface TransmitterDetails {
  readonly model?: string | null
  readonly muted?: boolean | null
  /** Gain offset or trim at the transmitter. */
  readonly gain_db?: number | null
  readonly power_mw?: number | null
  /** 0 to 5, as on the device's display. */
  readonly battery_bars?: number | null
  readonly battery_minutes?: number | null
  /** Minutes until the battery is full, while it is being charged. */
  readonly battery_minutes_to_full?: number | null
  readonly battery_type?: string | null
  /** Remaining capacity in percent of the original capacity. */
  readonly battery_health?: number | null
  readonly battery_cycles?: number | null
  readonly battery_temperature_c?: number | null
  /** `battery` is estimated from the bars, because the equipment reports no percentage. */
  readonly battery_is_estimate?: boolean
  /** Low-battery warning by the equipment. */
  readonly battery_low?: boolean | null
  /** The fault of a pack in a charger; null if the charger reported that there is no fault. */
  readonly fault?: Fault | null
}
