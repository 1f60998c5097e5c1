import type { ManufacturerHealth } from '../../../src/contract/health.ts'
import type { ServiceHealth } from '../../../src/domain/equipment/health.ts'
import { useWatchState } from '../../app/context.ts'
import { formatShortDuration } from '../../app/format.ts'
import { t } from '../../app/i18n.ts'
import { displayName } from './manufacturer-names.tsx'
import { firstSilence, listErrors, type ShownStatus, statusText, useShownStatuses } from './source-status.ts'

interface HealthListProps {
  readonly health: ServiceHealth
  readonly isOld: boolean
}

/** With more manufacturers, for example hundreds of sites, those without problems are only counted. */
const maxListed = 12

export function HealthItems({ health: { manufacturers, details }, isOld }: HealthListProps) {
  const statuses = useShownStatuses(manufacturers)
  const statusOf = ({ code }: Pick<ManufacturerHealth, 'code'>) => statuses.get(code) ?? 'unknown'
  const sources = useWatchState((watchState) => watchState.sources)
  const silent = sources.filter(({ silent_since }) => silent_since !== null)
  const failing = manufacturers.filter(
    ({ code, status }) =>
      status === 'unhealthy' || status === 'degraded' || silent.some((source) => source.code === code),
  )
  const listed = manufacturers.length <= maxListed ? manufacturers : failing.slice(0, maxListed)
  const others = manufacturers.filter((manufacturer) => !listed.includes(manufacturer))
  return (
    <>
      {manufacturers.length === 0 ? <li className="footer-item">{t('health.noManufacturers')}</li> : null}
      {listed.map((manufacturer) => (
        <ManufacturerItem
          key={manufacturer.code}
          manufacturer={manufacturer}
          status={statusOf(manufacturer)}
          isOld={isOld}
        />
      ))}
      {countEach(others.map(statusOf)).map(([status, count]) => (
        <li key={status} className="footer-item" data-status={isOld ? undefined : status}>
          <Lamp shape={isOld ? 'ring' : shapeOf[status]} />
          {t('health.several', { status: statusText(status), count })}
        </li>
      ))}
      {details.map((detail) => (
        <li key={detail} className="footer-item" data-status="degraded">
          <Lamp shape="triangle" />
          <bdi className="footer-error" title={detail}>
            {detail}
          </bdi>
        </li>
      ))}
    </>
  )
}

interface ManufacturerItemProps {
  readonly manufacturer: ManufacturerHealth
  readonly status: ShownStatus
  readonly isOld: boolean
}

function ManufacturerItem({ manufacturer, status, isOld }: ManufacturerItemProps) {
  const text = statusText(status)
  const silentSince = useWatchState(({ sources }) =>
    firstSilence(sources.filter(({ code }) => code === manufacturer.code)),
  )
  const isSilent = silentSince !== null && !isOld
  return (
    <li className="footer-item" data-status={isOld ? undefined : status} data-silent={isSilent || undefined}>
      {isSilent ? <SilentLamp since={silentSince} /> : <Lamp shape={isOld ? 'ring' : shapeOf[status]} />}
      <bdi className="footer-name">{displayName(manufacturer)}</bdi>{' '}
      <span className="footer-status">
        {isOld ? (
          t('health.lastKnown', { status: text })
        ) : isSilent && status === 'healthy' ? (
          <Silence since={silentSince} />
        ) : (
          text
        )}
      </span>
      <span className="footer-errors">
        {sentencesOf(manufacturer).map((sentence) => (
          <bdi key={sentence} className="footer-error" title={sentence}>
            {sentence}
          </bdi>
        ))}
      </span>
    </li>
  )
}

function countEach(statuses: readonly ShownStatus[]): readonly (readonly [ShownStatus, number])[] {
  const counts = new Map<ShownStatus, number>()
  for (const status of statuses) counts.set(status, (counts.get(status) ?? 0) + 1)
  return [...counts]
}

/** The errors of its sources, then the sentences in `details` that do not repeat them. */
function sentencesOf(manufacturer: ManufacturerHealth): readonly string[] {
  const errors = listErrors(manufacturer)
  const listed = new Set(manufacturer.sources.map(({ error }) => error))
  const details = manufacturer.details.filter((sentence) => !listed.has(sentence))
  return [...new Set([...errors, ...details])]
}

type Shape = 'dot' | 'triangle' | 'cross' | 'ring'

const shapeOf: Record<ShownStatus, Shape> = {
  healthy: 'dot',
  unknown: 'ring',
  degraded: 'triangle',
  unhealthy: 'cross',
  disabled: 'ring',
  unconfigured: 'ring',
  reported: 'ring',
}

const paths: Record<Shape, string> = {
  dot: 'M8 3a5 5 0 1 0 0 10A5 5 0 1 0 8 3Z',
  triangle: 'M8 2 15 14H1Z',
  cross: 'M3 3 13 13M13 3 3 13',
  ring: 'M8 3a5 5 0 1 0 0 10A5 5 0 1 0 8 3Z',
}

export function SilentLamp({ since }: { since: number }) {
  const seconds = useWatchState(({ now }) => Math.max(0, Math.floor((now - since) / 1000)))
  return (
    <svg
      className="lamp"
      data-shape="ring"
      viewBox="0 0 16 16"
      role="img"
      aria-label={t('health.silentFor', { count: seconds })}
    >
      <path d={paths.ring} />
    </svg>
  )
}

/** "Silent for 12 secs". */
export function Silence({ since }: { since: number }) {
  const age = useWatchState(({ now }) => formatShortDuration(now - since))
  return t('health.silent', { age })
}

export function Lamp({ shape }: { shape: Shape }) {
  return (
    <svg className="lamp" data-shape={shape} viewBox="0 0 16 16" aria-hidden="true">
      <path d={paths[shape]} />
    </svg>
  )
}
