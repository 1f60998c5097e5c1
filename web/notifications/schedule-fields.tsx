import { useState } from 'react'
import { weekdays } from '../../src/contract/values.ts'
import { formatWeekday } from '../app/format.ts'
import { t } from '../app/i18n.ts'
import { useResource } from '../app/resource.ts'
import { ChoicesField } from '../parts/forms/choices-field.tsx'
import { Field, SelectField } from '../parts/forms/field.tsx'
import { passesMidnight, type Schedule, usualSchedule } from './rule-values.ts'

/** Null if the rule had none. */
export function ScheduleFields({ schedule }: { schedule: Schedule | null }) {
  const zone = useResource('/api/config/', 'object').body?.TIME_ZONE
  const initial = schedule ?? usualSchedule(zone ?? Intl.DateTimeFormat().resolvedOptions().timeZone)
  const [hours, setHours] = useState({ from: initial.from, to: initial.to })
  // The browser may not list the current time zone.
  const zones = [...new Set([initial.time_zone, ...Intl.supportedValuesOf('timeZone')])].sort()
  return (
    <div className="dependent">
      <ChoicesField
        name="when.days"
        label={t('notifications.rules.days')}
        options={weekdays.map((day, index) => ({ value: day, text: formatWeekday(index) }))}
        chosen={initial.days}
      />
      <div className="schedule-hours">
        {(['from', 'to'] as const).map((end) => (
          <Field
            key={end}
            name={`when.${end}`}
            label={t(`notifications.rules.hours.${end}`)}
            type="time"
            value={hours[end]}
            onChange={({ target }) => setHours({ ...hours, [end]: target.value })}
          />
        ))}
      </div>
      {passesMidnight(hours) ? <p className="hint">{t('notifications.rules.overnight')}</p> : null}
      <SelectField
        key={initial.time_zone}
        name="when.time_zone"
        label={t('notifications.rules.timeZone')}
        options={zones.map((value) => ({ value, text: value }))}
        defaultValue={initial.time_zone}
      />
    </div>
  )
}
