/** The status of each manufacturer, and other problems of the service, one list item each. */

import type { ManufacturerHealth } from '../../src/contract/resources/health.ts'
import type { UpstreamStatus } from '../../src/contract/values.ts'
import type { ServiceHealth } from '../../src/domain/equipment/health.ts'
import { useWatchState } from '../context.ts'
import { t } from '../i18n.ts'
import { displayName } from '../manufacturer-names.ts'
import { listErrors } from '../source-errors.ts'
import { statusText, useShownStatus } from '../source-status.ts'

interface HealthListProps {
  readonly health: Pick<ServiceHealth, 'manufacturers' | 'details'>
  /** Whether the status may be outdated. */
  readonly isOld: boolean
}

/** With more manufacturers than this, for instance hundreds of sites, those without problems are only counted. */
const maxListed = 12

export function HealthItems({ health: { manufacturers, details }, isOld }: HealthListProps) {
  const failing = manufacturers.filter(({ status }) => status === 'unhealthy' || status === 'degraded')
  const listed = manufacturers.length <= maxListed ? manufacturers : failing.slice(0, maxListed)
  return (
    <>
      {manufacturers.length === 0 ? <li className="footer-item">{t('health.noManufacturers')}</li> : null}
      {listed.map((manufacturer) => (
        <ManufacturerItem key={manufacturer.code} manufacturer={manufacturer} isOld={isOld} />
      ))}
      {countByStatus(manufacturers.filter((manufacturer) => !listed.includes(manufacturer))).map(([status, count]) => (
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

function ManufacturerItem({ manufacturer, isOld }: { manufacturer: ManufacturerHealth; isOld: boolean }) {
  const status = useShownStatus(manufacturer)
  const hasReceivers = useWatchState(({ receivers }) =>
    [...receivers.values()].some((receiver) => receiver.manufacturer === manufacturer.code),
  )
  const text = status === 'unconfigured' && hasReceivers ? t('health.reported') : statusText(status)
  return (
    <li className="footer-item" data-status={isOld ? undefined : status}>
      <Lamp shape={isOld ? 'ring' : shapeOf[status]} />
      <bdi className="footer-name">{displayName(manufacturer)}</bdi>{' '}
      <span className="footer-status">{isOld ? t('health.lastKnown', { status: text }) : text}</span>
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

function countByStatus(manufacturers: readonly ManufacturerHealth[]): readonly (readonly [UpstreamStatus, number])[] {
  const counts = new Map<UpstreamStatus, number>()
  for (const { status } of manufacturers) counts.set(status, (counts.get(status) ?? 0) + 1)
  return [...counts]
}

/**
 * Returns the errors of a manufacturer without duplicates: the errors of its sources, then the sentences in `details`
 * that do not repeat them, for example summaries of the errors of devices.
 */
function sentencesOf(manufacturer: ManufacturerHealth): readonly string[] {
  const errors = listErrors(manufacturer)
  const listed = new Set(manufacturer.sources.map(({ error }) => error))
  const details = manufacturer.details.filter((sentence) => !listed.has(sentence))
  return [...new Set([...errors, ...details])]
}

type Shape = 'dot' | 'triangle' | 'cross' | 'ring'

const shapeOf: Record<UpstreamStatus, Shape> = {
  healthy: 'dot',
  unknown: 'ring',
  degraded: 'triangle',
  unhealthy: 'cross',
  disabled: 'ring',
  unconfigured: 'ring',
}

const paths: Record<Shape, string> = {
  dot: 'M8 3a5 5 0 1 0 0 10A5 5 0 1 0 8 3Z',
  triangle: 'M8 2 15 14H1Z',
  cross: 'M3 3 13 13M13 3 3 13',
  ring: 'M8 3a5 5 0 1 0 0 10A5 5 0 1 0 8 3Z',
}

export function Lamp({ shape }: { shape: Shape }) {
  return (
    <svg className="lamp" data-shape={shape} viewBox="0 0 16 16" aria-hidden="true">
      <path d={paths[shape]} />
    </svg>
  )
}
