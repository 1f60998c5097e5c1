import { useState } from 'react'
import type { FrequenciesBody } from '../../src/contract/frequencies.ts'
import type { ScanBody } from '../../src/contract/scans.ts'
import type { Region } from '../../src/contract/values.ts'
import { formatMhz } from '../../src/domain/frequencies/carrier.ts'
import { listTvChannels, type TvChannel } from '../../src/domain/frequencies/tv-raster.ts'
import { useServices } from '../app/context.ts'
import { formatDbm, formatMegahertz, formatPercent, plainText } from '../app/format.ts'
import { t } from '../app/i18n.ts'
import { useMay } from '../app/session.ts'
import { FormDialog } from '../parts/dialogs/form-dialog.tsx'
import { ChoicesField, chosenValues } from '../parts/forms/choices-field.tsx'
import { type Column, DataTable } from '../parts/tables/data-table.tsx'
import { shortMhz } from './carriers.ts'

interface TvChannelsProps {
  readonly region: Region
  readonly inUse: readonly TvChannel[]
  /** The measured power of each channel. */
  readonly power: FrequenciesBody['tv']
  readonly scans: readonly ScanBody[]
  onDone(): Promise<void>
}

export function TvChannels({ region, inUse, power, scans, onDone }: TvChannelsProps) {
  const mayConfigure = useMay('configure')
  const [isEditing, setEditing] = useState(false)
  return (
    <section className="frequencies-section" aria-label={t('frequencies.tv.title')}>
      <header className="conflicts-head">
        <h2>{t('frequencies.tv.title')}</h2>
        {mayConfigure ? (
          <button type="button" className="choice screen-only" onClick={() => setEditing(true)}>
            {t('frequencies.tv.edit')}
          </button>
        ) : null}
      </header>
      <p className={inUse.length === 0 ? 'box-note' : undefined}>
        {inUse.length === 0 ? t('frequencies.tv.none') : inUse.map(describeChannel).join(' · ')}
      </p>
      <p className="hint">{t('frequencies.tv.region', { region: t(`settings.values.${region}`) })}</p>
      <h3>{t('frequencies.tv.power.title')}</h3>
      {power.length === 0 ? (
        <p className="box-note">{t('frequencies.tv.power.none')}</p>
      ) : (
        <>
          <p className="hint">{t('frequencies.tv.power.hint')}</p>
          <DataTable
            caption={t('frequencies.tv.power.title')}
            columns={powerColumns(region, inUse, scans)}
            rows={power}
            idOf={({ channel }) => channel}
          />
        </>
      )}
      {isEditing ? <EditTvChannels {...{ region, inUse, onDone }} onClose={() => setEditing(false)} /> : null}
    </section>
  )
}

type Power = FrequenciesBody['tv'][number]

function powerColumns(
  region: Region,
  inUse: readonly TvChannel[],
  scans: readonly ScanBody[],
): readonly Column<Power>[] {
  const { channel, isInUse } = channelColumns<Power>(region, inUse)
  const scanName = (id: number) => plainText(scans.find((scan) => scan.id === id)?.name ?? String(id))
  return [
    channel,
    {
      ...{ key: 'power', title: t('frequencies.tv.power.dbm'), align: 'end' },
      sortBy: ({ dbm }) => dbm,
      cell: ({ dbm }) => formatDbm(dbm),
    },
    isInUse,
    {
      ...{ key: 'coverage', title: t('frequencies.tv.power.coverage'), align: 'end' },
      cell: ({ coverage }) => formatPercent(coverage * 100),
    },
    {
      ...{ key: 'rbw', title: t('frequencies.tv.power.rbw'), align: 'end' },
      cell: ({ assumed_rbw_khz }) => t('frequencies.kilohertz', { khz: assumed_rbw_khz }),
    },
    { key: 'scan', title: t('frequencies.tv.power.scan'), cell: ({ scan_id }) => <bdi>{scanName(scan_id)}</bdi> },
  ]
}

/** The columns of a table about TV channels. */
export function channelColumns<Row extends { readonly channel: string }>(
  region: Region,
  inUse: readonly TvChannel[],
): Readonly<Record<'channel' | 'isInUse', Column<Row>>> {
  const named = new Map(listTvChannels(region).map((channel) => [channel.name, channel]))
  const used = new Set(inUse.map(({ name }) => name))
  return {
    channel: {
      ...{ key: 'channel', title: t('frequencies.tv.power.channel') },
      sortBy: ({ channel }) => named.get(channel)?.fromKhz ?? 0,
      cell: ({ channel }) => {
        const found = named.get(channel)
        return found === undefined ? channel : describeChannel(found)
      },
    },
    isInUse: {
      ...{ key: 'in_use', title: t('frequencies.tv.power.inUse') },
      cell: ({ channel }) =>
        used.has(channel) ? <span className="tag">{t('frequencies.tv.power.marked')}</span> : null,
    },
  }
}

function describeChannel({ name, fromKhz, toKhz }: TvChannel): string {
  return t('frequencies.tv.channel', {
    name,
    from: shortMhz(formatMhz(fromKhz)),
    to: formatMegahertz(shortMhz(formatMhz(toKhz))),
  })
}

type EditTvChannelsProps = Pick<TvChannelsProps, 'region' | 'inUse' | 'onDone'> & { onClose(): void }

function EditTvChannels({ region, inUse, onDone, onClose }: EditTvChannelsProps) {
  const { api } = useServices()
  const options = listTvChannels(region).map((channel) => ({ value: channel.name, text: describeChannel(channel) }))
  const send = (values: FormData) =>
    api.write('POST', '/api/config/', { key: 'TV_IN_USE', value: chosenValues(values, 'value').join(',') }, 'object')
  return (
    <FormDialog
      title={t('frequencies.tv.title')}
      action={t('settings.save')}
      done={() => t('frequencies.tv.done')}
      {...{ send, onDone, onClose }}
    >
      <ChoicesField
        name="value"
        label={t('frequencies.tv.choose')}
        hint={t('frequencies.tv.hint')}
        options={options}
        chosen={inUse.map(({ name }) => name)}
      />
    </FormDialog>
  )
}
