/** Columns of the user list. */

import type { UserBody } from '../../src/contract/resources/accounts.ts'
import { plainText } from '../app/format.ts'
import { t } from '../app/i18n.ts'
import { Ago } from '../parts/ago.tsx'
import type { Column } from '../parts/data-table.tsx'
import type { PersonQuestion } from './person-dialogs.tsx'

interface ColumnOptions {
  /** Id of the signed-in user. */
  readonly own: number | null
  /** Id of the only active local administrator; null if there are several. */
  readonly lastAdmin: number | null
  onAsk(question: PersonQuestion): void
}

export function peopleColumns({ own, lastAdmin, onAsk }: ColumnOptions): readonly Column<UserBody>[] {
  return [
    {
      key: 'username',
      title: t('people.columns.name'),
      sortBy: ({ username }) => username,
      cell: ({ id, username }) => (
        <span>
          <bdi>{plainText(username)}</bdi>
          {id === own ? ` (${t('people.you')})` : null}
        </span>
      ),
    },
    {
      key: 'role',
      title: t('people.columns.role'),
      sortBy: ({ role }) => role,
      cell: ({ role }) => t(`shell.roles.${role}`),
    },
    {
      key: 'origin',
      title: t('people.columns.origin'),
      sortBy: ({ issuer }) => issuer,
      cell: ({ issuer, subject }) =>
        issuer === null ? t('people.localOrigin') : <bdi title={subject ?? ''}>{plainText(new URL(issuer).host)}</bdi>,
    },
    {
      key: 'state',
      title: t('people.columns.state'),
      sortBy: ({ is_active }) => (is_active ? 1 : 0),
      cell: ({ is_active }) => (
        <span>
          <span className="tag" data-tone={is_active ? 'good' : 'calm'}>
            {is_active ? t('people.active') : t('people.inactive')}
          </span>
        </span>
      ),
    },
    {
      key: 'last_login_at',
      title: t('people.columns.lastLogin'),
      sortBy: ({ last_login_at }) => last_login_at,
      cell: ({ last_login_at }) => <Ago at={last_login_at} />,
    },
    {
      key: 'actions',
      title: t('people.columns.actions'),
      cell: (user) => <Actions user={user} isLast={user.id === lastAdmin} onAsk={onAsk} />,
    },
  ]
}

interface ActionsProps extends Pick<ColumnOptions, 'onAsk'> {
  readonly user: UserBody
  readonly isLast: boolean
}

const localActions = ['change', 'reset', 'remove'] as const
/** A user of a sign-in provider has no password here. */
const providerActions = ['change', 'remove'] as const

function Actions({ user, isLast, onAsk }: ActionsProps) {
  const name = plainText(user.username)
  return (
    <div className="row-actions">
      {(user.issuer === null ? localActions : providerActions).map((kind) => (
        <button
          key={kind}
          type="button"
          className="choice"
          disabled={isLast && kind === 'remove'}
          onClick={() => onAsk({ kind, user })}
        >
          {t(`people.${kind}`)}
          <span className="visually-hidden"> {name}</span>
        </button>
      ))}
      {isLast ? <span className="hint">{t('people.lastAdmin')}</span> : null}
    </div>
  )
}
