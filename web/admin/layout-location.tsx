/** A location with its receivers and the locations inside it. */

import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { LayoutLocation, LayoutReceiver } from '../../src/contract/resources/locations.ts'
import { plainText } from '../format.ts'
import { t } from '../i18n.ts'
import { receiversIn } from '../layout.ts'
import { RowBox } from '../parts/data-table.tsx'
import { batteryLine } from '../parts/equipment-details.ts'
import type { Selection } from '../selection.ts'

/** Actions of the layout; null when the user may not edit. */
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
  return (
    <section className="location-box" aria-label={name}>
      <header className="location-head">
        <h2>
          <bdi>{name}</bdi>
        </h2>
        <span className="location-count">{t('layout.receiverCount', { count: receiversIn(location).length })}</span>
        {actions === null ? null : (
          <span className="location-actions">
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
        <p className="location-description">
          <bdi>{plainText(description)}</bdi>
        </p>
      )}
      {isEmpty ? <p className="location-description">{t('layout.empty')}</p> : null}
      <Receivers {...shared} actions={actions} receivers={receivers} locationId={id} />
      {locations.map((inner) => (
        <LocationBox key={inner.id} {...shared} actions={actions} location={inner} parent={id} />
      ))}
    </section>
  )
}

/** Shows the receivers without a location. */
export function Unplaced({ receivers, ...shared }: Shared & { readonly receivers: readonly LayoutReceiver[] }) {
  if (receivers.length === 0) return null
  return (
    <section className="location-box" data-tone="waiting" aria-label={t('layout.noLocation')}>
      <header className="location-head">
        <h2>{t('layout.noLocation')}</h2>
        <span className="location-count">{t('layout.receiverCount', { count: receivers.length })}</span>
      </header>
      {shared.actions === null ? null : <p className="location-description">{t('layout.noLocationNext')}</p>}
      <Receivers {...shared} receivers={receivers} locationId={null} />
    </section>
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
  const { manufacturer, model, ip, is_active } = receiver
  const texts = [manufacturer, model, ip].filter((item): item is string => item !== null && item !== '')
  return (
    <span className="receiver-about">
      <strong>
        <bdi>{nameOf(receiver)}</bdi>
      </strong>{' '}
      {is_active ? null : (
        <span className="tag" data-tone="bad">
          {t('layout.offline')}
        </span>
      )}
      <small>
        <bdi>{plainText(texts.join(' · '))}</bdi>
      </small>
    </span>
  )
}

function Channels({ receiver }: { receiver: LayoutReceiver }) {
  const { channels, units } = receiver
  const name = nameOf(receiver)
  const isCharger = units.length > 0 && channels.length === 0
  const label = isCharger ? t('layout.transmitters', { charger: name }) : t('layout.channels', { receiver: name })
  return (
    <ul className="receiver-channels" aria-label={label}>
      {channels.map(({ id, slot, name }) => (
        <li key={id}>
          <Link className="receiver-channel" to="/channels/$id" params={{ id: String(id) }}>
            <small>{t('layout.slot', { slot })}</small> <bdi>{plainText(name ?? '')}</bdi>
          </Link>
        </li>
      ))}
      {units.map(({ id, name, battery, is_online, details }) => (
        <li key={`unit ${id}`} className="receiver-channel" data-away={!is_online || undefined}>
          <bdi>{plainText(name ?? '')}</bdi> <small>{batteryLine(battery, details ?? undefined)}</small>
        </li>
      ))}
    </ul>
  )
}

function Edit({ text, about, onClick }: { text: ReactNode; about: string; onClick: () => void }) {
  return (
    <button type="button" className="choice" aria-label={about} onClick={onClick}>
      {text}
    </button>
  )
}
