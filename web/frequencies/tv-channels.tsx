import { useState } from 'react'
import type { Region } from '../../src/contract/values.ts'
import { formatMhz } from '../../src/domain/frequencies/carrier.ts'
import { listTvChannels, type TvChannel } from '../../src/domain/frequencies/tv-raster.ts'
import { useServices } from '../app/context.ts'
import { formatMegahertz } from '../app/format.ts'
import { t } from '../app/i18n.ts'
import { useMay } from '../app/session.ts'
import { FormDialog } from '../parts/dialogs/dialog.tsx'
import { ChoicesField, chosenValues } from '../parts/forms/choices-field.tsx'

interface TvChannelsProps {
  readonly region: Region
  readonly inUse: readonly TvChannel[]
  onDone(): Promise<void>
}

export function TvChannels({ region, inUse, onDone }: TvChannelsProps) {
  const mayConfigure = useMay('configure')
  const [isEditing, setEditing] = useState(false)
  return (
    <section className="frequencies-section" aria-label={t('frequencies.tv.title')}>
      <header className="conflicts-head">
        <h2>{t('frequencies.tv.title')}</h2>
        {mayConfigure ? (
          <button type="button" className="choice" onClick={() => setEditing(true)}>
            {t('frequencies.tv.edit')}
          </button>
        ) : null}
      </header>
      <p className={inUse.length === 0 ? 'box-note' : undefined}>
        {inUse.length === 0 ? t('frequencies.tv.none') : inUse.map(describe).join(' · ')}
      </p>
      <p className="hint">{t('frequencies.tv.region', { region: t(`settings.values.${region}`) })}</p>
      {isEditing ? <EditTvChannels {...{ region, inUse, onDone }} onClose={() => setEditing(false)} /> : null}
    </section>
  )
}

function describe({ name, fromKhz, toKhz }: TvChannel): string {
  return t('frequencies.tv.channel', { name, from: shortMhz(fromKhz), to: formatMegahertz(shortMhz(toKhz)) })
}

const shortMhz = (khz: number) => formatMhz(khz).replace(/\.?0+$/, '')

function EditTvChannels({ region, inUse, onDone, onClose }: TvChannelsProps & { onClose(): void }) {
  const { api } = useServices()
  const options = listTvChannels(region).map((channel) => ({ value: channel.name, text: describe(channel) }))
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
