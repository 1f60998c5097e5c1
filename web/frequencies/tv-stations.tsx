import { Upload } from 'lucide-react'
import { useState } from 'react'
import type { Region } from '../../src/contract/values.ts'
import type { TvChannel } from '../../src/domain/frequencies/tv-raster.ts'
import type { Place } from '../../src/domain/frequencies/tv-stations.ts'
import { useServices } from '../app/context.ts'
import { formatAge, formatMoment, plainText } from '../app/format.ts'
import { t } from '../app/i18n.ts'
import { useNow } from '../app/now.ts'
import type { Received } from '../app/operations.ts'
import { useResource } from '../app/resource.ts'
import { useMay } from '../app/session.ts'
import { FormDialog } from '../parts/dialogs/form-dialog.tsx'
import { Field } from '../parts/forms/field.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { type Column, DataTable } from '../parts/tables/data-table.tsx'
import { fileProblem } from './file-problem.ts'
import { channelColumns } from './tv-channels.tsx'

/** More stations do not matter at a place. */
const nearest = 50

type Stations = Received<'GET', '/api/tv-stations/', 'page'>
type Station = Stations['results'][number]

interface TvStationsProps {
  readonly coordinates: Place | null
  readonly region: Region
  readonly tvInUse: readonly TvChannel[]
}

/** The imported stations, the nearest first. */
export function TvStations({ coordinates, region, tvInUse }: TvStationsProps) {
  const mayOperate = useMay('operate')
  const [isImporting, setImporting] = useState(false)
  const query = new URLSearchParams({
    page_size: String(nearest),
    ...(coordinates !== null && {
      latitude: String(coordinates.latitude),
      longitude: String(coordinates.longitude),
    }),
  })
  const resource = useResource(`/api/tv-stations/?${query}`, 'page', ['snapshot'])
  return (
    <section className="frequencies-section" aria-label={t('frequencies.stations.title')}>
      <header className="conflicts-head">
        <h2>{t('frequencies.stations.title')}</h2>
        {mayOperate ? (
          <button type="button" className="choice screen-only" onClick={() => setImporting(true)}>
            <Upload className="icon" aria-hidden="true" />
            {t('frequencies.stations.import')}
          </button>
        ) : null}
      </header>
      <Loaded resource={resource}>
        {({ count, results }) =>
          count === 0 ? (
            <p className="box-note">{t('frequencies.stations.none')}</p>
          ) : (
            <>
              <Age count={count} importedAt={results[0]?.imported_at ?? ''} />
              <p className="hint">
                {coordinates === null
                  ? t('frequencies.stations.noCoordinates')
                  : t('frequencies.stations.hint', { count: Math.min(count, nearest) })}
              </p>
              {coordinates === null ? null : (
                <DataTable
                  caption={t('frequencies.stations.title')}
                  columns={columnsOf(region, tvInUse)}
                  rows={results.map((station, index) => ({ ...station, index }))}
                  idOf={({ index }) => index}
                />
              )}
            </>
          )
        }
      </Loaded>
      {isImporting ? <ImportStations onDone={resource.reload} onClose={() => setImporting(false)} /> : null}
    </section>
  )
}

function Age({ count, importedAt }: { readonly count: number; readonly importedAt: string }) {
  const now = useNow()
  const age = formatAge(Math.max(0, now - Date.parse(importedAt)))
  return <p>{t('frequencies.stations.imported', { count, time: formatMoment(importedAt), age })}</p>
}

function columnsOf(region: Region, tvInUse: readonly TvChannel[]): readonly Column<Station>[] {
  const { channel, isInUse } = channelColumns<Station>(region, tvInUse)
  return [
    channel,
    isInUse,
    {
      ...{ key: 'distance', title: t('frequencies.stations.distance'), align: 'end' },
      sortBy: ({ distance_km }) => distance_km,
      cell: ({ distance_km }) =>
        distance_km === null ? t('parts.unknown') : t('frequencies.stations.km', { value: distance_km }),
    },
    {
      ...{ key: 'power', title: t('frequencies.stations.power'), align: 'end' },
      sortBy: ({ erp_kw }) => erp_kw,
      cell: ({ erp_kw }) => (erp_kw === null ? t('parts.unknown') : t('frequencies.stations.kw', { value: erp_kw })),
    },
    { key: 'name', title: t('frequencies.stations.name'), cell: ({ name }) => <bdi>{plainText(name)}</bdi> },
  ]
}

function ImportStations({ onDone, onClose }: { onDone(): Promise<void>; onClose(): void }) {
  const { api } = useServices()
  return (
    <FormDialog
      title={t('frequencies.stations.importTitle')}
      action={t('frequencies.stations.import')}
      check={fileProblem}
      send={(values) => api.upload('/api/tv-stations/', values)}
      done={({ count }) => t('frequencies.stations.done', { count })}
      {...{ onDone, onClose }}
    >
      <Field
        name="file"
        type="file"
        label={t('frequencies.scans.file')}
        hint={t('frequencies.stations.fileHint')}
        accept=".csv"
      />
    </FormDialog>
  )
}
