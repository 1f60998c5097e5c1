import { pathOf } from '../../src/domain/pages.ts'
import { useServices } from '../app/context.ts'
import { t } from '../app/i18n.ts'
import { useResource } from '../app/resource.ts'
import { Field, PasswordField } from '../parts/forms/field.tsx'
import { focused } from '../parts/forms/focused.ts'
import { Form, newPasswordProblem } from '../parts/forms/form.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { AccessPage, sendCredentials } from './access-page.tsx'

export function SetUp() {
  const { mount } = useServices()
  const resource = useResource('/api/auth/setup', 'object')
  return (
    <AccessPage title={t('pages.setUp')}>
      <Loaded resource={resource}>
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
    </AccessPage>
  )
}

function SetUpForm({ isCodeNeeded }: { isCodeNeeded: boolean }) {
  const { mount, api } = useServices()
  const send = (values: FormData) => sendCredentials(api, '/api/auth/setup', Object.fromEntries(values))
  return (
    <>
      <p className="intro">{t('access.setUp.intro')}</p>
      <Form
        action={t('empty.setUp')}
        check={check}
        send={send}
        onDone={() => location.replace(mount + pathOf('overview'))}
      >
        <Field
          name="username"
          label={t('access.setUp.username')}
          hint={t('access.setUp.usernameHint')}
          autoComplete="username"
          {...focused}
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
