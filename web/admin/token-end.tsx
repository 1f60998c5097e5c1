/** Expiry of a token: after a period, on a date, or never. */

import { useState } from 'react'
import type { Problem } from '../app/api.ts'
import { t } from '../app/i18n.ts'
import { Field, SelectField } from '../parts/field.tsx'

const dayMs = 24 * 3_600_000

/** `keep` adds the option to keep the current expiry. */
export function EndFields({ keep = false }: { keep?: boolean }) {
  const [choice, setChoice] = useState<string>(keep ? 'keep' : '365')
  const options = (['1', '30', '365', 'never', 'day'] as const).map((value) => ({
    value,
    text: t(`tokens.lifetimes.${value}`),
  }))
  return (
    <>
      <SelectField
        name="ends"
        label={t('tokens.expires')}
        options={keep ? [{ value: 'keep', text: t('tokens.unchanged') }, ...options] : options}
        value={choice}
        onChange={(event) => setChoice(event.target.value)}
      />
      {choice === 'day' ? (
        <Field name="expires_at" label={t('tokens.day')} hint={t('tokens.dayHint')} type="date" />
      ) : null}
    </>
  )
}

/** Returns the `expires_at` to send: undefined keeps the stored expiry, null means that the token never expires. */
export function endOf(values: FormData, now: number): string | null | undefined {
  const ends = String(values.get('ends'))
  if (ends === 'keep') return undefined
  if (ends === 'never') return null
  if (ends !== 'day') return new Date(now + Number(ends) * dayMs).toISOString()
  return new Date(Date.parse(`${values.get('expires_at')}T00:00`) + dayMs).toISOString()
}

export function endProblem(values: FormData, now: number): Problem | null {
  if (values.get('ends') !== 'day') return null
  const day = Date.parse(`${values.get('expires_at')}T00:00`)
  // This comparison is also false for NaN, that is, for an invalid date.
  if (day + dayMs > now) return null
  return { kind: 'refused', field: 'expires_at', detail: t('tokens.dayInvalid') }
}
