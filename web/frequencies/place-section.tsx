/** Where the show is: the bands of the country, and the TV stations nearby. Neither blocks a frequency. */

import { useState } from 'react'
import type { Region } from '../../src/contract/values.ts'
import type { TvChannel } from '../../src/domain/frequencies/tv-raster.ts'
import { plainText } from '../app/format.ts'
import { t } from '../app/i18n.ts'
import { formatCoordinates, parseCoordinates } from '../parts/coordinates.ts'
import { FormDialog } from '../parts/dialogs/form-dialog.tsx'
import { Choice } from '../parts/forms/choice.tsx'
import { textIn } from '../parts/forms/entries.ts'
import { Field } from '../parts/forms/field.tsx'
import { Pairs } from '../parts/pairs.tsx'
import { countryName } from './band-text.ts'
import { Bands } from './bands.tsx'
import { TvStations } from './tv-stations.tsx'
import type { ChosenPlace, PlaceChoice } from './use-place.ts'

interface PlaceSectionProps {
  readonly place: PlaceChoice
  readonly region: Region
  readonly tvInUse: readonly TvChannel[]
}

export function PlaceSection({ place, region, tvInUse }: PlaceSectionProps) {
  const [isEditing, setEditing] = useState(false)
  const { country, coordinates, locations } = place
  const shown = locations.find((location) => isSame(location, place))
  return (
    <>
      <section className="frequencies-section" aria-label={t('frequencies.place.title')}>
        <header className="conflicts-head">
          <h2>{t('frequencies.place.title')}</h2>
          {locations.length === 0 ? null : (
            <Choice
              label={t('frequencies.place.location')}
              value={shown === undefined ? '' : String(shown.id)}
              values={[...(shown === undefined ? [''] : []), ...locations.map(({ id }) => String(id))]}
              nameOf={(id) =>
                plainText(
                  locations.find((location) => String(location.id) === id)?.name ?? t('frequencies.place.entered'),
                )
              }
              onChoice={(id) => {
                const chosen = locations.find((location) => String(location.id) === id)
                if (chosen !== undefined) place.choose(chosen)
              }}
            />
          )}
          <button type="button" className="choice screen-only" onClick={() => setEditing(true)}>
            {t('frequencies.place.change')}
          </button>
        </header>
        <p className="hint">{t('frequencies.place.intro')}</p>
        <Pairs
          pairs={[
            { name: t('frequencies.place.region'), value: t(`settings.values.${region}`) },
            {
              name: t('frequencies.place.country'),
              value: country === null ? t('frequencies.place.unknown') : countryName(country),
            },
            {
              name: t('frequencies.place.coordinates'),
              value: coordinates === null ? t('frequencies.place.unknown') : formatCoordinates(coordinates),
            },
          ]}
        />
        {isEditing ? <EditPlace place={place} onClose={() => setEditing(false)} /> : null}
      </section>
      <Bands place={place} />
      <TvStations {...{ coordinates, region, tvInUse }} />
    </>
  )
}

function isSame(one: ChosenPlace, other: ChosenPlace): boolean {
  return one.country === other.country && JSON.stringify(one.coordinates) === JSON.stringify(other.coordinates)
}

/** Kept in the address, for this page alone. That of a location is stored. */
function EditPlace({ place, onClose }: { readonly place: PlaceChoice; onClose(): void }) {
  const read = (values: FormData): ChosenPlace => ({
    country: textIn(values, 'country').toUpperCase() || null,
    coordinates: parseCoordinates(textIn(values, 'near')),
  })
  return (
    <FormDialog
      title={t('frequencies.place.title')}
      action={t('frequencies.place.apply')}
      check={(values) => {
        const { country, coordinates } = read(values)
        if (country !== null && !/^[A-Z]{2}$/.test(country)) {
          return { kind: 'refused', field: 'country', detail: t('frequencies.place.countryExpected') }
        }
        if (coordinates !== null || textIn(values, 'near') === '') return null
        return { kind: 'refused', field: 'near', detail: t('parts.coordinates.expected') }
      }}
      send={(values) => Promise.resolve({ ok: true, body: read(values) })}
      onDone={(chosen: ChosenPlace) => {
        onClose()
        place.choose(chosen)
      }}
      onClose={onClose}
    >
      <Field
        name="country"
        label={t('frequencies.place.country')}
        hint={t('frequencies.place.countryHint')}
        defaultValue={place.country ?? ''}
        autoComplete="off"
        maxLength={2}
        required={false}
      />
      <Field
        name="near"
        label={t('frequencies.place.coordinates')}
        hint={t('parts.form.coordinatesHint')}
        defaultValue={place.coordinates === null ? '' : formatCoordinates(place.coordinates)}
        autoComplete="off"
        required={false}
      />
    </FormDialog>
  )
}
