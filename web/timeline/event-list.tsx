import {
  BatteryMedium,
  BellRing,
  CirclePause,
  Flag,
  type LucideIcon,
  Power,
  Radio,
  Server,
  Theater,
  Volume2,
} from 'lucide-react'
import type { EventBody } from '../../src/contract/history.ts'
import { formatMoment, formatShortDuration, plainText } from '../app/format.ts'
import { t } from '../app/i18n.ts'
import { useMay } from '../app/session.ts'
import { ProblemLine } from '../parts/dialogs/notice.tsx'
import {
  categories,
  categoryNames,
  categoryOf,
  type EventCategory,
  endOf,
  eventDetail,
  eventTitle,
  type KindFilter,
  startOf,
} from '../parts/events.ts'
import { useRegion } from '../parts/use-region.ts'
import { useChannelName } from './names.ts'
import type { TimelineEvents } from './use-timeline.ts'

const categoryIcons: Readonly<Record<EventCategory, LucideIcon>> = {
  rf: Radio,
  audio: Volume2,
  battery: BatteryMedium,
  power: Power,
  alert: BellRing,
  equipment: Server,
  show: Theater,
  marker: Flag,
  gap: CirclePause,
}

const mostShown = 200

interface EventListProps {
  readonly list: TimelineEvents
  readonly events: readonly EventBody[]
  readonly filter: KindFilter
  readonly chosenId: number | null
  readonly now: number
  onFilter(filter: KindFilter): void
  onChoose(event: EventBody): void
  onEdit(event: EventBody): void
  onDelete(event: EventBody): void
}

export function EventList(props: EventListProps) {
  const { list, events, filter, onFilter } = props
  const shown = events.slice(0, mostShown)
  const region = useRegion<HTMLOListElement>()
  return (
    <section className="timeline-events" aria-labelledby="timeline-events">
      <header>
        <h2 id="timeline-events">{t('timeline.events')}</h2>
        <select
          className="choice"
          aria-label={t('timeline.kind')}
          value={filter}
          onChange={(event) => onFilter(event.target.value as KindFilter)}
        >
          <option value="">{t('timeline.allKinds')}</option>
          {categoryNames.map((category) => (
            <optgroup key={category} label={t(`timeline.categories.${category}`)}>
              {categories[category].length === 1 ? null : (
                <option value={category}>
                  {t('timeline.allOf', { category: t(`timeline.categories.${category}`) })}
                </option>
              )}
              {categories[category].map((kind) => (
                <option key={kind} value={kind}>
                  {t(`events.kinds.${kind}`)}
                </option>
              ))}
            </optgroup>
          ))}
        </select>
      </header>
      {list.problem === null ? null : <ProblemLine problem={list.problem} />}
      {list.isLoading ? <p className="loading">{t('parts.loading')}</p> : null}
      {!list.isLoading && events.length === 0 && list.problem === null ? <p>{t('timeline.noEvents')}</p> : null}
      <ol className="timeline-event-list" ref={region}>
        {shown.map((event) => (
          <EventItem key={event.id} event={event} {...props} />
        ))}
      </ol>
      {events.length > mostShown ? <p>{t('timeline.moreEvents', { count: events.length - mostShown })}</p> : null}
      {list.isIncomplete ? <p>{t('timeline.incompleteEvents')}</p> : null}
    </section>
  )
}

function EventItem({ event, chosenId, now, onChoose, onEdit, onDelete }: EventListProps & { event: EventBody }) {
  const mayOperate = useMay('operate')
  const name = useChannelName(event)
  const detail = eventDetail(event)
  const end = endOf(event, now)
  const Icon = categoryIcons[categoryOf(event.kind)]
  const title = detail !== null && event.kind === 'marker' ? detail : eventTitle(event)
  return (
    <li className="timeline-event" data-severity={event.kind === 'marker' ? 'marker' : event.severity}>
      <button type="button" aria-current={event.id === chosenId} onClick={() => onChoose(event)}>
        <Icon className="icon" aria-hidden="true" />
        <span className="timeline-event-title">{title}</span>
        <time className="tabular" dateTime={event.time}>
          {formatMoment(event.time, now)}
        </time>
        <span className="timeline-event-detail">
          {event.site === null ? null : <bdi>{plainText(event.site.name)}</bdi>}
          {name === null ? null : <bdi>{name}</bdi>}
          {event.kind === 'marker' ? <span>{eventTitle(event)}</span> : detail === null ? null : <span>{detail}</span>}
          {end === null || typeof event.data.seconds === 'number' ? null : (
            <span>{formatShortDuration(end - startOf(event))}</span>
          )}
          {event.by === null ? null : <bdi>{event.by === 'local' ? t('alerts.localUser') : plainText(event.by)}</bdi>}
        </span>
      </button>
      {event.kind === 'marker' && event.site === null && mayOperate ? (
        <div className="row-actions">
          <button
            type="button"
            className="choice"
            aria-label={t('timeline.editMarker', { text: title })}
            onClick={() => onEdit(event)}
          >
            {t('timeline.edit')}
          </button>
          <button
            type="button"
            className="choice"
            aria-label={t('timeline.deleteMarker', { text: title })}
            onClick={() => onDelete(event)}
          >
            {t('timeline.delete')}
          </button>
        </div>
      ) : null}
    </li>
  )
}
