/** A place with what stands in it, and the places inside it. */

import type { ReactNode } from 'react'
import type { LayoutLocation, LayoutReceiver } from '../../src/model/location.ts'
import { useSurroundings } from '../context.ts'
import { plainText } from '../format.ts'
import { t } from '../i18n.ts'
import { standingIn } from '../layout.ts'
import { RowBox } from '../parts/data-table.tsx'
import { batteryLine } from '../parts/gear-details.ts'
import type { Selection } from '../selection.ts'

/** What can be done from here; null for somebody who may not. */
export interface LayoutDeeds {
  editReceiver(receiver: LayoutReceiver, place: number | null): void
  addPlace(parent: number | null): void
  editPlace(location: LayoutLocation, parent: number | null): void
  removePlace(location: LayoutLocation): void
}

interface Shared {
  readonly selection: Selection
  readonly deeds: LayoutDeeds | null
}

export function PlaceBox(props: Shared & { readonly location: LayoutLocation; readonly parent: number | null }) {
  const { location, parent, deeds, ...shared } = props
  const { id, receivers, locations, description } = location
  const name = plainText(location.name)
  const isEmpty = receivers.length === 0 && locations.length === 0
  return (
    <section className="place-box" aria-label={name}>
      <header className="place-head">
        <h2>
          <bdi>{name}</bdi>
        </h2>
        <span className="place-holds">{t('layout.receiverCount', { count: standingIn(location).length })}</span>
        {deeds === null ? null : (
          <span className="place-deeds">
            <Deed
              text={t('layout.addInside')}
              about={t('layout.addInsideOf', { name })}
              onClick={() => deeds.addPlace(id)}
            />
            <Deed
              text={t('layout.edit')}
              about={t('layout.editOf', { name })}
              onClick={() => deeds.editPlace(location, parent)}
            />
            {isEmpty ? (
              <Deed
                text={t('layout.remove')}
                about={t('layout.removeOf', { name })}
                onClick={() => deeds.removePlace(location)}
              />
            ) : null}
          </span>
        )}
      </header>
      {description === '' ? null : (
        <p className="place-description">
          <bdi>{plainText(description)}</bdi>
        </p>
      )}
      {isEmpty ? <p className="place-description">{t('layout.empty')}</p> : null}
      <Receivers {...shared} deeds={deeds} receivers={receivers} place={id} />
      {locations.map((inner) => (
        <PlaceBox key={inner.id} {...shared} deeds={deeds} location={inner} parent={id} />
      ))}
    </section>
  )
}

/** Those that stand nowhere come first: they wait for somebody. */
export function Nowhere({ receivers, ...shared }: Shared & { readonly receivers: readonly LayoutReceiver[] }) {
  if (receivers.length === 0) return null
  return (
    <section className="place-box" data-tone="waiting" aria-label={t('layout.noLocation')}>
      <header className="place-head">
        <h2>{t('layout.noLocation')}</h2>
        <span className="place-holds">{t('layout.receiverCount', { count: receivers.length })}</span>
      </header>
      {shared.deeds === null ? null : <p className="place-description">{t('layout.noLocationNext')}</p>}
      <Receivers {...shared} receivers={receivers} place={null} />
    </section>
  )
}

type ReceiversProps = Shared & { readonly receivers: readonly LayoutReceiver[]; readonly place: number | null }

function Receivers({ receivers, place, selection, deeds }: ReceiversProps) {
  if (receivers.length === 0) return null
  return (
    <ul className="stood">
      {receivers.map((receiver) => {
        const name = nameOf(receiver)
        return (
          <li key={receiver.id} className="stood-receiver" data-selected={selection.has(receiver.id) || undefined}>
            <RowBox id={receiver.id} name={name} selection={selection} />
            <About receiver={receiver} />
            <Channels receiver={receiver} />
            {deeds === null ? null : (
              <Deed
                text={t('layout.edit')}
                about={t('layout.editOf', { name })}
                onClick={() => deeds.editReceiver(receiver, place)}
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
  const told = [manufacturer, model, ip].filter((one): one is string => one !== null && one !== '')
  return (
    <span className="stood-about">
      <strong>
        <bdi>{nameOf(receiver)}</bdi>
      </strong>{' '}
      {is_active ? null : (
        <span className="tag" data-tone="bad">
          {t('layout.offline')}
        </span>
      )}
      <small>
        <bdi>{plainText(told.join(' · '))}</bdi>
      </small>
    </span>
  )
}

function Channels({ receiver }: { receiver: LayoutReceiver }) {
  const { mount } = useSurroundings()
  const { channels, units } = receiver
  const name = nameOf(receiver)
  const isCharger = units.length > 0 && channels.length === 0
  const label = isCharger ? t('layout.transmitters', { charger: name }) : t('layout.channels', { receiver: name })
  return (
    <ul className="stood-channels" aria-label={label}>
      {channels.map(({ id, slot, name }) => (
        <li key={id}>
          <a className="stood-channel" href={`${mount}/channels/${id}`}>
            <small>{t('layout.slot', { slot })}</small> <bdi>{plainText(name ?? '')}</bdi>
          </a>
        </li>
      ))}
      {units.map(({ id, name, battery, is_online, details }) => (
        <li key={`unit ${id}`} className="stood-channel" data-away={!is_online || undefined}>
          <bdi>{plainText(name ?? '')}</bdi> <small>{batteryLine(battery, details ?? undefined)}</small>
        </li>
      ))}
    </ul>
  )
}

function Deed({ text, about, onClick }: { text: ReactNode; about: string; onClick: () => void }) {
  return (
    <button type="button" className="choice" aria-label={about} onClick={onClick}>
      {text}
    </button>
  )
}
