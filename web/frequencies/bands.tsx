import { useState } from 'react'
import type { CountryBandsBody } from '../../src/contract/places.ts'
import { bandStatuses } from '../../src/contract/values.ts'
import { useServices } from '../app/context.ts'
import { formatAge, formatDate, formatMegahertz, plainText } from '../app/format.ts'
import { t } from '../app/i18n.ts'
import { useNow } from '../app/now.ts'
import { useMay } from '../app/session.ts'
import { Removal } from '../parts/dialogs/dialog.tsx'
import { FormDialog } from '../parts/dialogs/form-dialog.tsx'
import { TextField } from '../parts/forms/field.tsx'
import { type Column, DataTable } from '../parts/tables/data-table.tsx'
import { countryName, formatBands, parseBands, statusText } from './band-text.ts'
import type { PlaceChoice } from './use-place.ts'

type Band = CountryBandsBody['bands'][number]

/** The bands for wireless microphones in the country. */
export function Bands({ place: { bands, reload } }: { readonly place: PlaceChoice }) {
  const mayAdminister = useMay('administer')
  const [question, setQuestion] = useState<'edit' | 'reset' | null>(null)
  const close = () => setQuestion(null)
  if (bands === null) {
    return (
      <section className="frequencies-section" aria-label={t('frequencies.bands.title')}>
        <h2>{t('frequencies.bands.title')}</h2>
        <p className="box-note">{t('frequencies.bands.noCountry')}</p>
      </section>
    )
  }
  const name = countryName(bands.country)
  return (
    <section className="frequencies-section" aria-label={t('frequencies.bands.title')}>
      <header className="conflicts-head">
        <h2>{t('frequencies.bands.title')}</h2>
        {mayAdminister ? (
          <span className="box-actions screen-only">
            <button type="button" className="choice" onClick={() => setQuestion('edit')}>
              {t('frequencies.bands.edit')}
            </button>
            {bands.edited_by === null ? null : (
              <button type="button" className="choice" onClick={() => setQuestion('reset')}>
                {t('frequencies.bands.reset')}
              </button>
            )}
          </span>
        ) : null}
      </header>
      <Age bands={bands} />
      {bands.bands.length === 0 ? null : (
        <DataTable
          caption={t('frequencies.bands.titleOf', { country: name })}
          columns={columns()}
          rows={bands.bands}
          idOf={({ from_mhz }) => from_mhz}
        />
      )}
      {question === 'edit' ? <EditBands {...{ bands, name, reload }} onClose={close} /> : null}
      {question === 'reset' ? (
        <Removal
          title={t('frequencies.bands.resetTitle', { country: name })}
          action={t('frequencies.bands.reset')}
          done={t('frequencies.bands.resetDone', { country: name })}
          path={`/api/frequencies/bands/?country=${bands.country}`}
          onDone={reload}
          onClose={close}
        >
          <p>{t('frequencies.bands.resetText')}</p>
        </Removal>
      ) : null}
    </section>
  )
}

function Age({ bands: { updated, edited_by } }: { readonly bands: CountryBandsBody }) {
  const now = useNow()
  if (updated === null) return <p className="box-note">{t('frequencies.bands.none')}</p>
  const values = { day: formatDate(updated), age: formatAge(Math.max(0, now - Date.parse(updated))) }
  return (
    <p className="hint">
      {edited_by === null
        ? t('frequencies.bands.builtIn', values)
        : t('frequencies.bands.edited', { ...values, by: plainText(edited_by) })}
    </p>
  )
}

function columns(): readonly Column<Band>[] {
  return [
    {
      ...{ key: 'range', title: t('frequencies.bands.range') },
      sortBy: ({ from_mhz }) => Number(from_mhz),
      cell: ({ from_mhz, to_mhz }) => t('frequencies.spectrum.range', { from: from_mhz, to: formatMegahertz(to_mhz) }),
    },
    {
      ...{ key: 'status', title: t('frequencies.bands.status') },
      sortBy: ({ status }) => statusText(status),
      cell: ({ status }) => (
        <span className="band-status" data-status={status}>
          {statusText(status)}
        </span>
      ),
    },
    { key: 'source', title: t('frequencies.profiles.source'), cell: ({ source }) => <bdi>{plainText(source)}</bdi> },
  ]
}

interface EditBandsProps {
  readonly bands: CountryBandsBody
  readonly name: string
  reload(): Promise<void>
  onClose(): void
}

function EditBands({ bands, name, reload, onClose }: EditBandsProps) {
  const { api } = useServices()
  const entered = (values: FormData) => parseBands(String(values.get('bands') ?? ''))
  return (
    <FormDialog
      title={t('frequencies.bands.titleOf', { country: name })}
      action={t('settings.save')}
      check={(values) => {
        const read = entered(values)
        if (!('wrongLine' in read)) return null
        return { kind: 'refused', field: 'bands', detail: t('frequencies.bands.expected', { line: read.wrongLine }) }
      }}
      send={(values) => {
        const read = entered(values)
        const body = { bands: 'wrongLine' in read ? [] : [...read] }
        return api.write('PUT', `/api/frequencies/bands/?country=${bands.country}`, body, 'object')
      }}
      done={() => t('frequencies.bands.done', { country: name })}
      onDone={reload}
      onClose={onClose}
    >
      <TextField
        name="bands"
        label={t('frequencies.bands.lines')}
        hint={t('frequencies.bands.linesHint', {
          words: bandStatuses.map(statusText).join(', '),
        })}
        rows={12}
        defaultValue={formatBands(bands.bands)}
      />
    </FormDialog>
  )
}
