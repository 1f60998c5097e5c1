/** What the list of performers says of each, and what can be done with them. */

import type { Performer } from '../../src/model/hardware.ts'
import { plainText } from '../format.ts'
import type { Column } from '../parts/data-table.tsx'
import '../styles/performers.css'
import { t } from '../i18n.ts'
import { showable } from '../watch-wearers.ts'
import type { PerformerQuestion } from './performer-dialogs.tsx'
import { type Cast, unitName, type Wearing } from './wearing.ts'

interface Deeds {
  onAsk(question: PerformerQuestion): void
  onEnd(wearing: Wearing): Promise<void>
}

/** `deeds`: null for somebody who may only look. */
export function performerColumns(cast: Cast, deeds: Deeds | null): readonly Column<Performer>[] {
  const shown: readonly Column<Performer>[] = [
    {
      key: 'name',
      title: t('performers.columns.name'),
      sortBy: ({ name }) => name,
      cell: (performer) => <Name performer={performer} />,
    },
    {
      key: 'notes',
      title: t('performers.columns.notes'),
      cell: ({ notes }) => (notes === '' ? t('parts.unknown') : <bdi className="notes">{plainText(notes)}</bdi>),
    },
    {
      key: 'wears',
      title: t('performers.columns.transmitter'),
      sortBy: ({ id }) => cast.wearings.filter(({ performer }) => performer === id).length,
      cell: ({ id, name }) => <Wears id={id} name={plainText(name)} cast={cast} deeds={deeds} />,
    },
  ]
  if (deeds === null) return shown
  return [
    ...shown,
    {
      key: 'actions',
      title: t('performers.columns.actions'),
      cell: (performer) => <Actions performer={performer} onAsk={deeds.onAsk} />,
    },
  ]
}

function Name({ performer }: { performer: Performer }) {
  const name = plainText(performer.name)
  const picture = showable(performer.picture)
  return (
    <span className="performer">
      {picture === null ? (
        <span className="performer-picture" />
      ) : (
        <img className="performer-picture" src={picture} alt={t('performers.picture', { name })} />
      )}
      <bdi>{name}</bdi>
    </span>
  )
}

interface WearsProps {
  readonly id: number
  readonly name: string
  readonly cast: Cast
  readonly deeds: Deeds | null
}

function Wears({ id, name, cast: { wearings, units }, deeds }: WearsProps) {
  const own = wearings.filter(({ performer }) => performer === id)
  if (own.length === 0) return t('performers.noTransmitter')
  return (
    <ul className="wears">
      {own.map((wearing) => {
        const unit = unitName(units, wearing.wireless_unit)
        return (
          <li key={wearing.id} className="row-actions">
            <bdi>{unit}</bdi>
            {deeds === null ? null : (
              <button type="button" className="choice" onClick={() => deeds.onEnd(wearing)}>
                {t('performers.unassign')}
                <span className="for-listeners">
                  {' '}
                  {name}, {unit}
                </span>
              </button>
            )}
          </li>
        )
      })}
    </ul>
  )
}

function Actions({ performer, onAsk }: { performer: Performer } & Pick<Deeds, 'onAsk'>) {
  return (
    <div className="row-actions">
      {(['assign', 'change', 'remove'] as const).map((kind) => (
        <button key={kind} type="button" className="choice" onClick={() => onAsk({ kind, performer })}>
          {t(`performers.${kind}`)}
          <span className="for-listeners"> {plainText(performer.name)}</span>
        </button>
      ))}
    </div>
  )
}
