/** The fields of the System API: the resource of a device or channel, then the property. */

import { type AudioActivity, audioActivities } from '../../../domain/equipment/receiver.ts'
import { type FieldTable, field, flag, number, percent, text, words } from '../../../upstream/field-table.ts'

export const fields = {
  name: text('name name'),
  muted: flag('mute muted'),
  gain: number('gain gain', { unit: 'dB', min: -100, max: 100 }),
  activity: words<AudioActivity>(
    'activity audioLevel',
    Object.fromEntries(audioActivities.map((activity) => [activity.toUpperCase(), activity])),
  ),
  charge: percent('battery-level percentage'),
  state: words(
    'battery-level currentState',
    { CHARGING: 'charging', DISCHARGING: 'discharging' },
    { FULL: 'no time', EMPTY: 'no time', CALCULATING: 'no time', OPTIMAL_STORAGE: 'no time' },
  ),
  target: words('battery-level targetState', { EMPTY: 'empty' }, { FULL: 'no run time' }),
  /** An ISO 8601 duration, such as `PT853M` or `PT14H13M`. */
  minutes: field<number>({
    address: 'battery-level timeToTargetState',
    unit: 'duration',
    range: 'PT0M up to PT1092H15M',
    hasForm: (raw) => typeof raw === 'string',
    convert(raw) {
      const [duration, hours = 0, minutes = 0] =
        /^PT(?:(\d{1,4})H)?(?:(\d{1,5})M)?(?:\d{1,6}S)?$/.exec(String(raw)) ?? []
      const total = Number(hours) * 60 + Number(minutes)
      return duration === undefined || duration === 'PT' || total > 65_535 ? null : total
    },
  }),
  health: percent('battery-health percentage'),
  cycles: number('battery-health cycleCount', { unit: 'count', min: 0, max: 65_534, codes: { 65535: 'unknown' } }),
}

export const table: FieldTable = {
  family: 'Shure System API',
  source: 'public clients, which follow the OpenAPI document of version 1.8 and were tested with server 6.10',
  fields,
}
