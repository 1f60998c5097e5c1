import { formatDayTime, formatTime } from '../app/format.ts'
import { t } from '../app/i18n.ts'
import { type ChannelLevels, type LevelRange, stateNames, summarizeLevels } from './channel-levels.ts'

const maxRows = 60

interface LevelTableProps {
  readonly levels: ChannelLevels
  readonly from: number
  readonly to: number
  readonly isInPercent: boolean
}

export function LevelTable({ levels, from, to, isInPercent }: LevelTableProps) {
  const format = to - from >= 86_400 ? formatDayTime : formatTime
  return (
    <div className="table-scroll">
      <table className="data-table sample-table">
        <caption className="visually-hidden">{t('channel.table')}</caption>
        <thead>
          <tr>
            <th scope="col">{t('channel.tableColumns.time')}</th>
            <th scope="col">{t('channel.tableColumns.state')}</th>
            <th scope="col">{t(isInPercent ? 'channel.tableColumns.rfPercent' : 'channel.tableColumns.rf')}</th>
            <th scope="col">{t('channel.tableColumns.audio')}</th>
            <th scope="col">{t('channel.tableColumns.battery')}</th>
          </tr>
        </thead>
        <tbody>
          {summarizeLevels(levels, from, maxRows).map((range) => (
            <tr key={range.from}>
              <th scope="row">{format(range.from * 1_000)}</th>
              <td>{range.letters.map((letter) => t(`channel.recorded.${stateNames[letter]}`)).join(', ')}</td>
              <td>{rfText(range)}</td>
              <td>{valueText(range.audio)}</td>
              <td>{valueText(range.battery)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function rfText({ rfMin, rfMax }: LevelRange): string {
  if (rfMin === null || rfMin === rfMax) return valueText(rfMin)
  return t('channel.range', { min: valueText(rfMin), max: valueText(rfMax) })
}

function valueText(value: number | null): string {
  return value === null ? t('channel.unknownValue') : String(value).replace('-', '−')
}
