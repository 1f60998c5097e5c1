import { useState } from 'react'
import type { UserBody } from '../../../src/contract/access.ts'
import { useResource } from '../../app/resource.ts'
import { useSession } from '../../app/session.ts'
import { Shell } from '../../app/shell.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { type Column, DataTable } from '../../parts/tables/data-table.tsx'
import '../../parts/tables/records.css'
import { plainText } from '../../app/format.ts'
import { t } from '../../app/i18n.ts'
import { Ago } from '../../parts/age.tsx'
import { PersonDialog, type PersonQuestion } from './person-dialogs.tsx'

/** No message announces a change of this list. */
const topics = [] as const

export function People() {
  const resource = useResource('/api/admin/users/', 'list', topics)
  const [dialog, setDialog] = useState<PersonQuestion | null>(null)
  const own = useSession()?.user?.id ?? null
  return (
    <Shell title={t('people.title')} intro={t('people.intro')}>
      <Loaded resource={resource}>
        {(users) => (
          <>
            <div className="list-actions">
              <button type="button" className="choice" data-tone="usual" onClick={() => setDialog({ kind: 'add' })}>
                {t('people.add')}
              </button>
            </div>
            <DataTable
              caption={t('people.list')}
              columns={peopleColumns({ own, lastAdmin: lastAdmin(users), onAsk: setDialog })}
              rows={users}
              idOf={({ id }) => id}
            />
          </>
        )}
      </Loaded>
      {dialog === null ? null : (
        <PersonDialog question={dialog} onDone={resource.reload} onClose={() => setDialog(null)} />
      )}
    </Shell>
  )
}

/** The only active local administrator cannot be removed. Null if there are several. */
function lastAdmin(users: readonly UserBody[]): number | null {
  const admins = users.filter(({ role, is_active, issuer }) => role === 'admin' && is_active && issuer === null)
  return admins.length === 1 ? (admins[0]?.id ?? null) : null
}

interface ColumnOptions {
  readonly own: number | null
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
      cell: (user) => <Role of={user} />,
    },
    {
      key: 'origin',
      title: t('people.columns.origin'),
      sortBy: ({ issuer }) => issuer,
      cell: ({ issuer, subject, has_totp }) =>
        issuer === null ? (
          t(has_totp ? 'people.localOriginWithCode' : 'people.localOrigin')
        ) : (
          <bdi title={subject ?? ''}>{plainText(new URL(issuer).host)}</bdi>
        ),
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

/** A user of a sign-in provider has no password here. */
function actionsOf({ issuer, has_totp }: UserBody) {
  if (issuer !== null) return ['change', 'remove'] as const
  return has_totp ? (['change', 'reset', 'totp', 'remove'] as const) : (['change', 'reset', 'remove'] as const)
}

export function Role({ of }: { readonly of: Pick<UserBody, 'role' | 'permissions'> }) {
  return (
    <span>
      {t(`shell.roles.${of.role}`)}
      {of.permissions.includes('listen') ? (
        <>
          {' '}
          <span className="tag" data-tone="calm">
            {t('people.listens')}
          </span>
        </>
      ) : null}
    </span>
  )
}

function Actions({ user, isLast, onAsk }: ActionsProps) {
  const name = plainText(user.username)
  return (
    <div className="row-actions">
      {actionsOf(user).map((kind) => (
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
