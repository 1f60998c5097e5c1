/** The settings that decide when a condition is true: limits, defaults, and which scope wins. */

export const muteAttentions = ['never', 'during_shows', 'always'] as const
export type MuteAttention = (typeof muteAttentions)[number]

interface NumericThreshold {
  readonly type: 'integer'
  readonly unit: '%' | 'min' | 'dBm'
  readonly min: number
  readonly max: number
  readonly default: number
  /** Which of two values warns earlier. `lower_but_zero`: the lower one, but 0 means never. */
  readonly earlier: 'higher' | 'lower' | 'lower_but_zero'
}

interface ChosenThreshold {
  readonly type: 'choice'
  /** From the value that warns last to the one that warns first. */
  readonly values: typeof muteAttentions
  readonly default: MuteAttention
}

const percent = { type: 'integer', unit: '%', min: 0, max: 100, earlier: 'higher' } as const
const minutes = { type: 'integer', unit: 'min', min: 0, max: 1440, earlier: 'higher' } as const
const dbm = { type: 'integer', unit: 'dBm', min: -120, max: -20 } as const

export const thresholdKinds = {
  BATTERY_CRITICAL: { ...percent, default: 10 },
  MINUTES_CRITICAL: { ...minutes, default: 15 },
  alert_battery_threshold: { ...percent, default: 20 },
  MINUTES_LOW: { ...minutes, default: 45 },
  BATTERY_REPLACE_SOON: { ...percent, default: 50 },
  RF_NOISE_DBM: { ...dbm, default: -75, earlier: 'lower' },
  RF_WEAK_DBM: { ...dbm, default: -85, earlier: 'higher' },
  NO_AUDIO_MINUTES: { type: 'integer', unit: 'min', min: 0, max: 240, default: 0, earlier: 'lower_but_zero' },
  MUTE_ATTENTION: { type: 'choice', values: muteAttentions, default: 'during_shows' },
} as const satisfies Record<string, NumericThreshold | ChosenThreshold>

export type ThresholdKey = keyof typeof thresholdKinds
type NumericKey = Exclude<ThresholdKey, 'MUTE_ATTENTION'>

export type Thresholds = Readonly<Record<NumericKey, number> & Record<'MUTE_ATTENTION', MuteAttention>>
/** The values that one scope sets. */
export type ScopeThresholds = Partial<Thresholds>

const numericKeys = Object.keys(thresholdKinds).filter((key): key is NumericKey => key !== 'MUTE_ATTENTION')

/**
 * Returns the thresholds in force for a channel. The first of these that has a value wins: the groups of the channel,
 * its manufacturer, the global setting, the default. If several groups have a value, the one that warns earlier wins.
 */
export function resolveThresholds(
  global: ScopeThresholds,
  manufacturer: ScopeThresholds,
  groups: readonly ScopeThresholds[],
): Thresholds {
  const values = Object.fromEntries(
    numericKeys.map((key) => {
      const inGroups = groups.map((group) => group[key]).filter((value) => value !== undefined)
      const earliest = inGroups.length === 0 ? undefined : inGroups.reduce((a, b) => earlierOf(key, a, b))
      return [key, earliest ?? manufacturer[key] ?? global[key] ?? thresholdKinds[key].default]
    }),
  ) as Record<NumericKey, number>
  const mute = earliestMuteAttention(groups) ?? manufacturer.MUTE_ATTENTION ?? global.MUTE_ATTENTION
  return {
    ...values,
    // A critical bound above the low bound counts as equal to it.
    BATTERY_CRITICAL: Math.min(values.BATTERY_CRITICAL, values.alert_battery_threshold),
    MINUTES_CRITICAL: Math.min(values.MINUTES_CRITICAL, values.MINUTES_LOW),
    MUTE_ATTENTION: mute ?? thresholdKinds.MUTE_ATTENTION.default,
  }
}

function earlierOf(key: NumericKey, a: number, b: number): number {
  const { earlier }: NumericThreshold = thresholdKinds[key]
  switch (earlier) {
    case 'higher':
      return Math.max(a, b)
    case 'lower':
      return Math.min(a, b)
    case 'lower_but_zero':
      return a === 0 || b === 0 ? Math.max(a, b) : Math.min(a, b)
  }
}

function earliestMuteAttention(groups: readonly ScopeThresholds[]): MuteAttention | undefined {
  return muteAttentions.findLast((value) => groups.some(({ MUTE_ATTENTION }) => MUTE_ATTENTION === value))
}
