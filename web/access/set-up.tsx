/** The first administrator. */

import { pathOf } from '../../src/model/pages.ts'
import type { SetupBody, SignedInBody } from '../../src/model/people.ts'
import { isObject } from '../api.ts'
import { useSurroundings } from '../context.ts'
import { t } from '../i18n.ts'
import { Field, PasswordField } from '../parts/field.tsx'
import { Form } from '../parts/form.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { useReading } from '../reading.ts'
import { enter } from './enter.ts'
import { Entrance } from './entrance.tsx'
import { newPasswordProblem } from './new-password.ts'

export function SetUp() {
  const { mount } = useSurroundings()
  const reading = useReading('/api/auth/setup', isObject<SetupBody>)
  return (
    <Entrance title={t('access.setUp.title')}>
      <Loaded reading={reading}>
        {({ needed, code_needed }) =>
          needed ? (
            <SetUpForm isCodeNeeded={code_needed} />
          ) : (
            <p>
              {t('access.setUp.done')} <a href={mount + pathOf('sign_in')}>{t('access.setUp.signIn')}</a>
            </p>
          )
        }
      </Loaded>
    </Entrance>
  )
}

function SetUpForm({ isCodeNeeded }: { isCodeNeeded: boolean }) {
  const { mount, api } = useSurroundings()
  const send = (values: FormData) => enter<SignedInBody>(api, '/api/auth/setup', Object.fromEntries(values))
  return (
    <>
      <p className="intro">{t('access.setUp.intro')}</p>
      <Form
        action={t('access.setUp.action')}
        check={check}
        send={send}
        onDone={() => location.replace(mount + pathOf('overview'))}
      >
        <Field
          name="username"
          label={t('access.setUp.username')}
          hint={t('access.setUp.usernameHint')}
          autoComplete="username"
          autoFocus={true}
        />
        <PasswordField
          name="password"
          label={t('access.setUp.password')}
          hint={t('access.setUp.passwordHint')}
          autoComplete="new-password"
        />
        {isCodeNeeded ? (
          <Field name="code" label={t('access.setUp.code')} hint={t('access.setUp.codeHint')} autoComplete="off" />
        ) : null}
      </Form>
    </>
  )
}

const check = (values: FormData) => newPasswordProblem(values, 'password', String(values.get('username') ?? ''))
