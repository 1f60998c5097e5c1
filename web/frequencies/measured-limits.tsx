import { useState } from 'react'
import type { MeasuredBody } from '../../src/contract/frequencies.ts'
import type { Problem } from '../app/api.ts'
import { useServices } from '../app/context.ts'
import { formatDbm } from '../app/format.ts'
import { t } from '../app/i18n.ts'
import { useMay } from '../app/session.ts'
import { FormDialog } from '../parts/dialogs/form-dialog.tsx'
import { changedFields } from '../parts/forms/entries.ts'
import { Field, TickField } from '../parts/forms/field.tsx'
import { Pairs } from '../parts/pairs.tsx'

const address = '/api/frequencies/measured/'

interface MeasuredLimitsProps {
  readonly measured: MeasuredBody
  onDone(): Promise<void>
}

/** The levels and distances from which signals in scans count. */
export function MeasuredLimits({ measured, onDone }: MeasuredLimitsProps) {
  const mayOperate = useMay('operate')
  const [isEditing, setEditing] = useState(false)
  const { exclude_above_dbm, peak_above_dbm, peak_spacing_khz, peak_products, max_age_hours } = measured
  const pairs = [
    { name: t('frequencies.limits.exclude'), value: formatDbm(exclude_above_dbm) },
    { name: t('frequencies.limits.peak'), value: formatDbm(peak_above_dbm) },
    { name: t('frequencies.limits.spacing'), value: t('frequencies.kilohertz', { khz: peak_spacing_khz }) },
    { name: t('frequencies.limits.products'), value: t(peak_products ? 'parts.filters.yes' : 'parts.filters.no') },
    {
      name: t('frequencies.limits.age'),
      value:
        max_age_hours === null
          ? t('frequencies.limits.anyAge')
          : t('frequencies.limits.hours', { count: max_age_hours }),
    },
  ]
  return (
    <section className="frequencies-section" aria-label={t('frequencies.limits.title')}>
      <header className="conflicts-head">
        <h3>{t('frequencies.limits.title')}</h3>
        {mayOperate ? (
          <button type="button" className="choice" onClick={() => setEditing(true)}>
            {t('frequencies.limits.edit')}
          </button>
        ) : null}
      </header>
      <Pairs pairs={pairs} />
      {isEditing ? <EditLimits {...{ measured, onDone }} onClose={() => setEditing(false)} /> : null}
    </section>
  )
}

function EditLimits({ measured, onDone, onClose }: MeasuredLimitsProps & { onClose(): void }) {
  const { api } = useServices()
  return (
    <FormDialog
      title={t('frequencies.limits.title')}
      action={t('settings.save')}
      check={findProblem}
      edit={{ address, record: measured, latest: measured }}
      send={(values, { record: { version: _, ...limits }, before, version }) => {
        // Absent limits would return to their defaults.
        const body = { ...limits, ...changedFields(limitsIn(before), limitsIn(values)) }
        return api.write('PUT', address, body, 'object', version)
      }}
      done={() => t('frequencies.limits.done')}
      {...{ onDone, onClose }}
    >
      {(record) => <LimitFields measured={record} />}
    </FormDialog>
  )
}

function LimitFields({ measured }: { measured: MeasuredBody }) {
  const level = { inputMode: 'text', autoComplete: 'off', required: true } as const
  return (
    <>
      <div className="field-columns">
        <Field
          {...level}
          name="exclude_above_dbm"
          label={t('frequencies.limits.fields.exclude')}
          hint={t('frequencies.limits.hints.exclude')}
          defaultValue={measured.exclude_above_dbm}
        />
        <Field
          {...level}
          name="peak_above_dbm"
          label={t('frequencies.limits.fields.peak')}
          hint={t('frequencies.limits.hints.peak')}
          defaultValue={measured.peak_above_dbm}
        />
        <Field
          {...level}
          name="peak_spacing_khz"
          inputMode="numeric"
          label={t('frequencies.limits.fields.spacing')}
          defaultValue={measured.peak_spacing_khz}
        />
        <Field
          {...level}
          name="max_age_hours"
          inputMode="decimal"
          required={false}
          label={t('frequencies.limits.fields.age')}
          hint={t('frequencies.limits.hints.age')}
          defaultValue={measured.max_age_hours ?? ''}
        />
      </div>
      <TickField
        name="peak_products"
        label={t('frequencies.limits.products')}
        hint={t('frequencies.limits.hints.products')}
        defaultChecked={measured.peak_products}
      />
    </>
  )
}

function limitsIn(values: FormData): Omit<MeasuredBody, 'version' | 'scan_ids'> {
  const age = textOf(values, 'max_age_hours')
  return {
    exclude_above_dbm: Number(textOf(values, 'exclude_above_dbm')),
    peak_above_dbm: Number(textOf(values, 'peak_above_dbm')),
    peak_spacing_khz: Number(textOf(values, 'peak_spacing_khz')),
    peak_products: values.get('peak_products') !== null,
    max_age_hours: age === '' ? null : Number(age),
  }
}

/** Accepts a decimal comma and the minus sign. */
function textOf(values: FormData, name: string): string {
  return String(values.get(name) ?? '')
    .trim()
    .replace(',', '.')
    .replace('−', '-')
}

/** The service checks the limits of the values. */
function findProblem(values: FormData): Problem | null {
  const field = ['exclude_above_dbm', 'peak_above_dbm', 'peak_spacing_khz', 'max_age_hours'].find((name) => {
    const text = textOf(values, name)
    return Number.isNaN(Number(text)) || (text === '' && name !== 'max_age_hours')
  })
  return field === undefined ? null : { kind: 'refused', field, detail: t('frequencies.limits.numberExpected') }
}
