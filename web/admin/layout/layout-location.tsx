import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { LayoutLocation, LayoutReceiver } from '../../../src/contract/locations.ts'
import { useFacts, useWatchState } from '../../app/context.ts'
import { plainText } from '../../app/format.ts'
import { t } from '../../app/i18n.ts'
import type { Selection } from '../../app/selection.ts'
import { batteryLine } from '../../parts/equipment/equipment-details.ts'
import { useManufacturerName } from '../../parts/equipment/manufacturer-names.tsx'
import { RowBox } from '../../parts/tables/data-table.tsx'
import { ChannelChip, ProblemTags } from './chips.tsx'
import { receiversIn } from './layout.ts'
import '../../parts/boxes.css'
import { receiverProblems } from '../../app/summary.ts'

export interface LayoutActions {
  editReceiver(receiver: LayoutReceiver, locationId: number | null): void
  addLocation(parent: number | null): void
  editLocation(location: LayoutLocation, parent: number | null): void
  removeLocation(location: LayoutLocation): void
}

interface Shared {
  readonly selection: Selection
  readonly actions: LayoutActions | null
}

export function LocationBox(props: Shared & { readonly location: LayoutLocation; readonly parent: number | null }) {
  const { location, parent, actions, ...shared } = props
  const { id, receivers, locations, description } = location
  const name = plainText(location.name)
  const isEmpty = receivers.length === 0 && locations.length === 0
  const inside = receiversIn(location).map(({ receiver }) => receiver)
  return (
    <section className="box" aria-label={name}>
      <header className="box-head">
        <h2>
          <bdi>{name}</bdi>
        </h2>
        <ReceiverCount receivers={inside} />
        {actions === null ? null : (
          <span className="box-actions">
            <Edit
              text={t('layout.addInside')}
              about={t('layout.addInsideOf', { name })}
              onClick={() => actions.addLocation(id)}
            />
            <Edit
              text={t('layout.edit')}
              about={t('layout.editOf', { name })}
              onClick={() => actions.editLocation(location, parent)}
            />
            {isEmpty ? (
              <Edit
                text={t('layout.remove')}
                about={t('layout.removeOf', { name })}
                onClick={() => actions.removeLocation(location)}
              />
            ) : null}
          </span>
        )}
      </header>
      {description === '' ? null : (
        <p className="box-note">
          <bdi>{plainText(description)}</bdi>
        </p>
      )}
      {isEmpty ? <p className="box-note">{t(actions === null ? 'layout.empty' : 'layout.emptyNext')}</p> : null}
      <Receivers {...shared} actions={actions} receivers={receivers} locationId={id} />
      {locations.map((inner) => (
        <LocationBox key={inner.id} {...shared} actions={actions} location={inner} parent={id} />
      ))}
    </section>
  )
}

interface UnplacedProps extends Shared {
  readonly receivers: readonly LayoutReceiver[]
  readonly hasLocations: boolean
}

export function Unplaced({ receivers, hasLocations, ...shared }: UnplacedProps) {
  if (receivers.length === 0) return null
  return (
    <section className="box" data-tone="waiting" aria-label={t('layout.noLocation')}>
      <header className="box-head">
        <h2>{t('layout.noLocation')}</h2>
        <ReceiverCount receivers={receivers} />
      </header>
      {shared.actions === null ? null : (
        <p className="box-note">{t(hasLocations ? 'layout.noLocationNext' : 'layout.addNext')}</p>
      )}
      <Receivers {...shared} receivers={receivers} locationId={null} />
    </section>
  )
}

function ReceiverCount({ receivers }: { receivers: readonly LayoutReceiver[] }) {
  const live = useWatchState((watchState) => watchState.receivers)
  const { offline, attention } = receiverProblems(receivers.flatMap(({ id }) => live.get(id) ?? []))
  return (
    <>
      <span className="box-note">{t('layout.receiverCount', { count: receivers.length })}</span>
      {receivers.length === 0 ? null : (
        <ProblemTags
          offline={offline === 0 ? null : t('layout.offlineCount', { count: offline })}
          attention={attention}
          fine={t('summary.allOk')}
        />
      )}
    </>
  )
}

type ReceiversProps = Shared & { readonly receivers: readonly LayoutReceiver[]; readonly locationId: number | null }

function Receivers({ receivers, locationId, selection, actions }: ReceiversProps) {
  if (receivers.length === 0) return null
  return (
    <ul className="receiver-list">
      {receivers.map((receiver) => {
        const name = nameOf(receiver)
        return (
          <li key={receiver.id} className="receiver-row" data-selected={selection.has(receiver.id) || undefined}>
            <RowBox id={receiver.id} name={name} selection={selection} />
            <About receiver={receiver} />
            <Channels receiver={receiver} />
            {actions === null ? null : (
              <Edit
                text={t('layout.edit')}
                about={t('layout.editOf', { name })}
                onClick={() => actions.editReceiver(receiver, locationId)}
              />
            )}
          </li>
        )
      })}
    </ul>
  )
}

export function nameOf({ name }: Pick<LayoutReceiver, 'name'>): string {
  return plainText(name) || t('layout.unnamed')
}

function About({ receiver }: { receiver: LayoutReceiver }) {
  const { id, manufacturer, model, ip } = receiver
  const texts = [useManufacturerName(manufacturer), model, ip].filter(
    (item): item is string => item !== null && item !== '',
  )
  return (
    <span className="receiver-about">
      <Link to="/receivers/$id" params={{ id: String(id) }}>
        <bdi>{nameOf(receiver)}</bdi>
      </Link>{' '}
      <ReceiverState id={id} />
      <small>
        <bdi>{plainText(texts.join(' · '))}</bdi>
      </small>
    </span>
  )
}

function ReceiverState({ id }: { id: number }) {
  const receiver = useWatchState((watchState) => watchState.receivers.get(id))
  if (receiver === undefined) return null
  const { offline, attention } = receiverProblems([receiver])
  return (
    <ProblemTags offline={offline === 0 ? null : t('layout.offline')} attention={attention} fine={t('layout.online')} />
  )
}

function Channels({ receiver }: { receiver: LayoutReceiver }) {
  const { channels, units } = receiver
  const name = nameOf(receiver)
  const isCharger = units.length > 0 && channels.length === 0
  const label = isCharger ? t('layout.transmitters', { charger: name }) : t('layout.channels', { receiver: name })
  return (
    <ul className="chips receiver-channels" aria-label={label}>
      {channels.map((channel) => (
        <li key={channel.id}>
          <Channel channel={channel} receiverId={receiver.id} />
        </li>
      ))}
      {units.map(({ id, name, battery, is_online, details }) => (
        <li key={`unit ${id}`} className="chip" data-away={!is_online || undefined}>
          <bdi>{plainText(name ?? '')}</bdi> <small>{batteryLine(battery, details ?? undefined)}</small>
        </li>
      ))}
    </ul>
  )
}

interface ChannelProps {
  readonly channel: LayoutReceiver['channels'][number]
  readonly receiverId: number
}

function Channel({ channel: { id, slot, name }, receiverId }: ChannelProps) {
  const facts = useFacts(receiverId, id)
  return <ChannelChip channelId={id} slot={slot} name={facts?.title ?? plainText(name ?? '')} facts={facts} />
}

function Edit({ text, about, onClick }: { text: ReactNode; about: string; onClick: () => void }) {
  return (
    <button type="button" className="choice" aria-label={about} onClick={onClick}>
      {text}
    </button>
  )
}
