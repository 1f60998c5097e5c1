/** The values of the charts as a table: at most 60 ranges of time, newest first. */

import { formatTime } from '../format.ts'
import { t } from '../i18n.ts'
import { type Sample, type SampleRange, summarizeSamples } from '../session-history.ts'

const maxRows = 60

export function SampleTable({ samples }: { samples: readonly Sample[] }) {
  const isInPercent = samples.some(({ rfPercent }) => rfPercent !== null)
  return (
    <table className="data-table sample-table">
      <caption className="visually-hidden">{t('channel.table')}</caption>
      <thead>
        <tr>
          <th scope="col">{t('channel.tableColumns.time')}</th>
          <th scope="col">{t(isInPercent ? 'channel.tableColumns.rfPercent' : 'channel.tableColumns.rf')}</th>
          <th scope="col">{t('channel.tableColumns.audio')}</th>
          <th scope="col">{t('channel.tableColumns.battery')}</th>
        </tr>
      </thead>
      <tbody>
        {summarizeSamples(samples, maxRows).map((range) => (
          <tr key={range.from}>
            <th scope="row">{formatTime(range.from * 1_000)}</th>
            <td>{rfText(range)}</td>
            <td>{valueText(range.maxAudio)}</td>
            <td>{valueText(range.battery)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function rfText({ minRf, maxRf }: SampleRange): string {
  if (minRf === null || minRf === maxRf) return valueText(minRf)
  return t('channel.range', { min: valueText(minRf), max: valueText(maxRf) })
}

function valueText(value: number | null): string {
  return value === null ? t('channel.unknownValue') : String(value).replace('-', '−')
}
