//! The formats of the keys that providers give out, one row each. The kinds and their shapes are facts that the rule set
//! of gitleaks (MIT) and the documents of the providers publish; what may stand for a key only is told apart in `random`.
//! Must hold no value, and no rule that a sentence, a hash or a file name fits.

use super::shape::Alphabet::{Alnum, AnyHex, Base32, Base64, Digit, Dotted, Hex, Lower, Upper, Word};
use super::shape::Part::{Run, Text, Uuid};
use super::shape::{Alphabet, Part};

/// What must be true of the characters behind the prefix.
#[derive(Clone, Copy, Debug)]
pub(super) enum Test {
    /// They look drawn by chance.
    Random,
    /// They are spread as by chance, be it over capitals alone.
    Spread,
    /// Those after the last such character do; before it stand numbers that say whose key it is.
    RandomAfter(u8),
    /// Their last six are the check digits of GitHub and npm. A key with others opens nothing, and is no secret.
    CheckDigits,
    /// The shape says it all.
    Shape,
}

/// The format of a key.
pub(super) struct Format {
    /// What it is, with its article.
    pub(super) sort: &'static str,
    /// How it starts, one or another.
    pub(super) starts: &'static [&'static str],
    /// What follows.
    pub(super) parts: &'static [Part],
    /// What must be true of what follows.
    pub(super) test: Test,
    /// What stands in front of `starts` and is part of the key: an alphabet, the least and the most.
    pub(super) front: Option<(Alphabet, usize, usize)>,
    /// A word in small letters that must stand not far in front, where others write such values too.
    pub(super) near: &'static str,
}

const fn format(sort: &'static str, starts: &'static [&'static str], parts: &'static [Part]) -> Format {
    Format { sort, starts, parts, test: Test::Random, front: None, near: "" }
}

impl Format {
    const fn test(self, test: Test) -> Self {
        Self { test, ..self }
    }

    const fn front(self, alphabet: Alphabet, least: usize, most: usize) -> Self {
        Self { front: Some((alphabet, least, most)), ..self }
    }

    const fn near(self, near: &'static str) -> Self {
        Self { near, ..self }
    }
}

/// Cloud providers and what runs on them.
const CLOUD: &[Format] = &[
    format("an AWS access key id", &["AKIA", "ASIA", "ABIA", "ACCA"], &[Run(Base32, 16, 16)]).test(Test::Spread),
    format("an Amazon Bedrock key", &["ABSK"], &[Run(Base64, 109, 269)]),
    format("a Google API key", &["AIza"], &[Run(Word, 35, 35)]),
    format("a Google OAuth secret", &["GOCSPX-"], &[Run(Word, 28, 28)]),
    format("a Google access token", &["ya29."], &[Run(Dotted, 40, 1024)]),
    format("a Google refresh token", &["1//0"], &[Run(Word, 40, 200)]),
    format("an Azure client secret", &["Q~"], &[Run(Dotted, 31, 34)]).front(Dotted, 4, 4),
    format("an Alibaba Cloud access key id", &["LTAI"], &[Run(Alnum, 16, 24)]),
    format("a Tencent Cloud secret id", &["AKID"], &[Run(Alnum, 32, 36)]),
    format("a Yandex Cloud key", &["AQVN"], &[Run(Word, 35, 38)]),
    format("a DigitalOcean token", &["dop_v1_", "doo_v1_", "dor_v1_"], &[Run(Hex, 64, 64)]),
    format("a Heroku key", &["HRKU-"], &[Run(Word, 36, 60)]),
    format("a Fly.io token", &["fm1r_", "fm1a_", "fm2_"], &[Run(Base64, 43, 2048)]),
    format("a Fly.io token", &["fo1_"], &[Run(Word, 43, 64)]),
    format("a Netlify token", &["nfp_", "nfc_", "nfo_", "nfu_"], &[Run(Alnum, 36, 40)]),
    format("a Vercel token", &["vcp_", "vci_", "vca_", "vcr_", "vck_"], &[Run(Alnum, 24, 64)]),
    format("a Render key", &["rnd_"], &[Run(Alnum, 28, 36)]),
    format("a Cloudflare origin key", &["v1.0-"], &[Run(Hex, 24, 24), Text("-"), Run(Hex, 146, 146)]),
    format("a Cloudflare token", &["cfut_", "cfat_", "cfk_"], &[Run(Word, 40, 64)]),
    format("a Supabase key", &["sbp_", "sbp_oauth_"], &[Run(Hex, 40, 40)]),
    format("a Supabase key", &["sb_secret_"], &[Run(Word, 20, 60)]),
    format("a PlanetScale credential", &["pscale_tkn_", "pscale_pw_", "pscale_oauth_"], &[Run(Dotted, 32, 64)]),
    format("a Neon key", &["napi_"], &[Run(Lower, 40, 80)]),
    format("an Aiven password", &["AVNS_"], &[Run(Word, 19, 19)]),
    format("a Databricks token", &["dapi", "dose"], &[Run(Hex, 32, 32)]),
    format("a Databricks token", &["dapi"], &[Run(Hex, 32, 32), Text("-"), Run(Digit, 1, 2)]),
    format("a ClickHouse Cloud key", &["4b1d"], &[Run(Alnum, 38, 38)]),
    format("a MongoDB Atlas secret", &["mdb_sa_sk_"], &[Run(Word, 40, 40)]),
    format("a Scalingo token", &["tk-us-"], &[Run(Word, 48, 48)]),
    format("a Terraform Cloud token", &[".atlasv1."], &[Run(Dotted, 60, 70)]).front(Alnum, 14, 14),
    format("a Vault token", &["hvs.", "hvr."], &[Run(Word, 24, 160)]),
    format("a Vault batch token", &["hvb."], &[Run(Word, 100, 300)]),
    format("a Pulumi token", &["pul-"], &[Run(Hex, 40, 40)]),
    format("an OpenShift token", &["sha256~"], &[Run(Word, 43, 43)]),
    format(
        "a Tailscale key",
        &["tskey-api-", "tskey-auth-", "tskey-client-", "tskey-scim-", "tskey-webhook-"],
        &[Run(Alnum, 8, 20), Text("-"), Run(Alnum, 20, 40)],
    ),
    format("an Exoscale key", &["EXO"], &[Run(Alnum, 24, 30)]),
    format("an UpCloud token", &["ucat_"], &[Run(Alnum, 24, 32)]),
    format("an Elastic Cloud key", &["essu_"], &[Run(Dotted, 60, 200)]),
    format("a CockroachDB key", &["CCDB1_"], &[Run(Alnum, 22, 22), Text("_"), Run(Alnum, 40, 40)]),
    format("an Astra token", &["AstraCS:"], &[Run(Alnum, 20, 24), Text(":"), Run(Alnum, 60, 70)]),
    format("a Docker Swarm key", &["SWMTKN-1-", "SWMKEY-1-"], &[Run(Dotted, 40, 100)]),
    format("an Alibaba Cloud session", &["STS."], &[Run(Alnum, 16, 64)]),
];

/// Where code is kept, built and published.
const CODE: &[Format] = &[
    format("a GitHub token", &["ghp_", "gho_", "ghu_", "ghs_", "ghr_"], &[Run(Alnum, 36, 255)]).test(Test::CheckDigits),
    format("a GitHub token", &["github_pat_"], &[Run(Alnum, 22, 22), Text("_"), Run(Alnum, 59, 59)]),
    format("a GitLab token", GITLAB, &[Run(Word, 20, 300)]),
    format(
        "a GitLab token",
        &["glpat-", "glrt-"],
        &[Run(Word, 27, 300), Text("."), Run(Lower, 2, 2), Text("."), Run(Lower, 7, 9)],
    ),
    format("a GitLab token", &["glpat-", "glrt-"], &[Run(Word, 27, 300), Text("."), Run(Lower, 9, 9)]),
    format("a GitLab runner token", &["GR1348941"], &[Run(Word, 20, 20)]),
    format("a GitLab trigger token", &["glptt-"], &[Run(Hex, 40, 40)]),
    format("a Bitbucket app password", &["ATBB"], &[Run(Alnum, 28, 32)]),
    format("an Atlassian token", &["ATATT3", "ATCTT3"], &[Run(Dotted, 64, 250)]),
    format("an npm token", &["npm_"], &[Run(Alnum, 36, 36)]).test(Test::CheckDigits),
    format("a PyPI token", &["pypi-AgEIcHlwaS5vcmc", "pypi-AgENdGVzdC5weXBpLm9yZw"], &[Run(Word, 50, 1000)]),
    format("a RubyGems key", &["rubygems_"], &[Run(Hex, 48, 48)]),
    format("a crates.io token", &["cio"], &[Run(Alnum, 32, 32)]),
    format("a NuGet key", &["oy2"], &[Run(Lower, 43, 43)]),
    format("a Clojars token", &["CLOJARS_"], &[Run(Lower, 60, 60)]),
    // The base64 of `{"auths":`, in one line, by spaces or by tabs.
    format(
        "a registry credential",
        &["eyJhdXRocyI6", "eyAiYXV0aHMi", "ewogICJhdXRocyI6", "ewogICAgImF1dGhzIjog", "ewoJImF1dGhzIjog"],
        &[Run(Base64, 60, 4096)],
    ),
    format("a Docker Hub token", &["dckr_pat_", "dckr_oat_"], &[Run(Word, 27, 40)]),
    format("an Artifactory key", &["AKCp"], &[Run(Alnum, 69, 69)]),
    format("an Artifactory token", &["cmVmd"], &[Run(Alnum, 59, 59)]),
    format("a Buildkite token", &["bkua_"], &[Run(Hex, 40, 40)]),
    format("a CircleCI token", &["CCIPAT_", "CCIPRJ_"], &[Run(Alnum, 20, 24), Text("_"), Run(Hex, 40, 40)]),
    format("a Sonar token", &["squ_", "sqp_", "sqa_"], &[Run(Hex, 40, 40)]),
    format("a Sourcegraph token", &["sgp_"], &[Run(AnyHex, 40, 40)]),
    format("a Sourcegraph token", &["sgp_"], &[Run(Alnum, 5, 16), Text("_"), Run(AnyHex, 40, 40)]),
    format("an Octopus Deploy key", &["API-"], &[Run(Upper, 26, 32)]),
    format(
        "a Harness token",
        &["pat.", "sat."],
        &[Run(Word, 22, 22), Text("."), Run(Alnum, 24, 24), Text("."), Run(Alnum, 20, 20)],
    ),
    format("a Prefect key", &["pnu_"], &[Run(Alnum, 36, 36)]),
    format("a Snyk token", &["snyk_uat.", "snyk_sat."], &[Run(Dotted, 40, 200)]),
    format("a Bitbucket token", &["BBDC-"], &[Run(Base64, 32, 64)]),
    format("a Buildkite token", &["bkaa_", "bkaj_", "bkar_", "bkct_", "bkpt_"], &[Run(Word, 60, 340)]),
    format("a Cloudsmith key", &["csa_"], &[Run(Alnum, 36, 36)]),
    format("a Mergify key", &["mergify_application_key_"], &[Run(Word, 40, 200)]),
];

const GITLAB: &[&str] =
    &["glpat-", "gldt-", "glrt-", "glft-", "glimt-", "glagent-", "gloas-", "glsoat-", "glffct-", "glcbt-"];

/// Models and what is built with them.
const MODELS: &[Format] = &[
    format("an OpenAI key", &["sk-proj-", "sk-svcacct-", "sk-admin-", "sk-None-"], &[Run(Word, 40, 200)]),
    format("an OpenAI key", &["sk-"], &[Run(Alnum, 20, 20), Text("T3BlbkFJ"), Run(Alnum, 20, 20)]),
    format("an Anthropic key", &["sk-ant-"], &[Run(Word, 40, 200)]),
    format("an OpenRouter key", &["sk-or-v1-"], &[Run(Hex, 64, 64)]),
    format("a Langfuse key", &["sk-lf-"], &[Uuid]),
    format("a key that starts with sk-", &["sk-"], &[Run(Alnum, 32, 64)]),
    format("a key that starts with sk-", &["sk-sp-"], &[Run(Dotted, 24, 128)]),
    format("a Groq key", &["gsk_"], &[Run(Alnum, 52, 52)]),
    format("an xAI key", &["xai-"], &[Run(Alnum, 70, 84)]),
    format("a Perplexity key", &["pplx-"], &[Run(Alnum, 48, 56)]),
    format("a Hugging Face token", &["hf_", "api_org_"], &[Run(Alnum, 34, 40)]).test(Test::Spread),
    format("a Replicate token", &["r8_"], &[Run(Alnum, 37, 37)]),
    format("a Cerebras key", &["csk-"], &[Run(Lower, 48, 48)]),
    format("an NVIDIA key", &["nvapi-"], &[Run(Word, 60, 70)]),
    format("a Together key", &["tgp_v1_"], &[Run(Word, 43, 43)]),
    format("a LangSmith key", &["lsv2_pt_", "lsv2_sk_"], &[Run(Hex, 32, 32), Text("_"), Run(Hex, 10, 10)]),
    format("a Pinecone key", &["pcsk_"], &[Run(Word, 50, 80)]),
    format("a Tavily key", &["tvly-", "tvly-dev-", "tvly-prod-"], &[Run(Alnum, 32, 40)]),
    format("a Jina key", &["jina_"], &[Run(Word, 60, 60)]),
    format("an ElevenLabs key", &["sk_"], &[Run(Hex, 48, 48)]),
    format("an E2B key", &["e2b_"], &[Run(Hex, 40, 40)]),
    format("a Weights & Biases key", &["wandb_v1_"], &[Run(Word, 60, 100)]),
    format("a Google Gemini key", &["AQ.Ab8RN6"], &[Run(Word, 40, 60)]),
    format("a MiniMax key", &["sk-api-"], &[Run(Word, 60, 130)]),
    format("a Voyage key", &["pa-", "al-"], &[Run(Word, 43, 43)]),
    format("a LlamaCloud key", &["llx-"], &[Run(Alnum, 44, 52)]),
    format("a Devin key", &["apk_user_", "apk_"], &[Run(Base64, 80, 180)]),
    format("a RunPod key", &["rpa_"], &[Run(Alnum, 40, 46)]),
    format("a Zuplo key", &["zpka_"], &[Run(Lower, 32, 32), Text("_"), Run(Hex, 8, 8)]),
    format("an Apify token", &["apify_api_"], &[Run(Alnum, 34, 38)]),
];

/// Messages and mail.
const MESSAGES: &[Format] = &[
    format(
        "a Slack token",
        &["xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxs-", "xoxo-", "xoxc-", "xoxd-"],
        &[Run(Word, 24, 255)],
    )
    .test(Test::RandomAfter(b'-')),
    format("a Slack token", &["xoxe.xoxb-1-", "xoxe.xoxp-1-", "xoxe-1-"], &[Run(Alnum, 120, 180)]),
    format(
        "a Slack app token",
        &["xapp-"],
        &[Run(Digit, 1, 1), Text("-"), Run(Upper, 9, 13), Text("-"), Run(Digit, 9, 15), Text("-"), Run(Alnum, 32, 80)],
    )
    .test(Test::RandomAfter(b'-')),
    format("a Slack webhook", &["hooks.slack.com/services/T", "hooks.slack.com/workflows/T"], &[Run(Base64, 40, 60)])
        .test(Test::RandomAfter(b'/')),
    format(
        "a Discord token",
        &["MT", "Mj", "Mz", "ND", "NT", "Nj", "Nz", "OD", "OT"],
        &[Run(Word, 21, 27), Text("."), Run(Word, 6, 6), Text("."), Run(Word, 27, 38)],
    )
    .test(Test::RandomAfter(b'.')),
    format(
        "a Discord webhook",
        &["discord.com/api/webhooks/", "discordapp.com/api/webhooks/"],
        &[Run(Digit, 17, 20), Text("/"), Run(Word, 60, 80)],
    )
    .test(Test::RandomAfter(b'/')),
    format("a Telegram bot token", &[":A"], &[Run(Word, 33, 34)]).front(Digit, 8, 11),
    format(
        "a Teams webhook",
        &[".webhook.office.com/webhookb2/"],
        &[Uuid, Text("@"), Uuid, Text("/IncomingWebhook/"), Run(Lower, 32, 32), Text("/"), Uuid],
    )
    .front(Lower, 1, 40),
    format("a Twilio key", &["SK"], &[Run(Hex, 32, 32)]),
    format("a Twilio credential", &["AC"], &[Run(Hex, 32, 32), Text(":"), Run(Hex, 32, 32)]),
    format("a SendGrid key", &["SG."], &[Run(Word, 20, 24), Text("."), Run(Word, 39, 50)]),
    format("a Brevo key", &["xkeysib-", "xsmtpsib-"], &[Run(Hex, 64, 64), Text("-"), Run(Alnum, 16, 16)]),
    format("a Mailgun key", &["key-"], &[Run(Hex, 32, 32)]).near("mailgun"),
    format("a Mailchimp key", &["-us"], &[Run(Digit, 1, 2)]).front(Hex, 32, 32).test(Test::Shape),
    format("a Resend key", &["re_"], &[Run(Alnum, 8, 8), Text("_"), Run(Alnum, 20, 30)]),
    format("a MailerSend token", &["mlsn."], &[Run(Alnum, 30, 100)]),
    format("a OneSignal key", &["os_v2_app_", "os_v2_org_"], &[Run(Lower, 103, 103)]),
    format("a Nylas key", &["nyk_"], &[Run(Alnum, 67, 67)]),
];

/// Payment and shops.
const PAYMENT: &[Format] = &[
    format(
        "a Stripe key",
        &["sk_live_", "sk_test_", "sk_prod_", "rk_live_", "rk_test_", "rk_prod_"],
        &[Run(Alnum, 16, 247)],
    ),
    format("a webhook signing secret", &["whsec_"], &[Run(Base64, 24, 80)]),
    format("a Shopify token", &["shpat_", "shpca_", "shppa_", "shpss_", "shptka_"], &[Run(AnyHex, 32, 32)]),
    format("a Square token", &["sq0atp-", "sq0csp-", "sq0idp-"], &[Run(Word, 22, 43)]),
    format("a Square token", &["EAAA"], &[Run(Word, 60, 60)]),
    format(
        "a PayPal token",
        &["access_token$production$", "access_token$sandbox$"],
        &[Run(Lower, 16, 16), Text("$"), Run(Hex, 32, 32)],
    ),
    format("a Plaid token", &["access-sandbox-", "access-development-", "access-production-"], &[Uuid]),
    format("a Flutterwave key", &["FLWSECK_TEST-", "FLWSECK-"], &[Run(Lower, 12, 40), Text("-X")]),
    format("a Razorpay key", &["rzp_live_", "rzp_test_"], &[Run(Alnum, 14, 24)]),
    format("a Duffel token", &["duffel_live_", "duffel_test_"], &[Run(Dotted, 43, 43)]),
    format("an EasyPost key", &["EZAK", "EZTK"], &[Run(Alnum, 54, 54)]),
    format("a Shippo token", &["shippo_live_", "shippo_test_"], &[Run(AnyHex, 40, 40)]),
    format("a Facebook token", &["EAAM", "EAAC"], &[Run(Alnum, 100, 400)]),
    format("a Twitter bearer token", &["AAAAAAAAAAAAAAAAAAAAA"], &[Run(Alnum, 20, 40), Text("%"), Run(Alnum, 30, 80)]),
    format(
        "a Paddle key",
        &["pdl_live_apikey_", "pdl_sdbx_apikey_"],
        &[Run(Lower, 26, 26), Text("_"), Run(Alnum, 22, 22), Text("_"), Run(Alnum, 3, 3)],
    ),
    format("a Xendit key", &["xnd_production_", "xnd_development_"], &[Run(Alnum, 56, 72)]),
    format("a Polar token", &["polar_at_", "polar_oat_", "polar_pat_"], &[Run(Word, 20, 100)]),
    format("a Ramp secret", &["ramp_sec_"], &[Run(Alnum, 48, 48)]),
    format("an Asaas token", &["$aact_prod_", "$aact_hmlg_"], &[Run(Word, 20, 200)]),
];

/// Watching, notes, design and the rest.
const SERVICES: &[Format] = &[
    format("a Grafana token", &["glsa_"], &[Run(Alnum, 32, 32), Text("_"), Run(AnyHex, 8, 8)]),
    format("a Grafana token", &["glc_"], &[Run(Base64, 32, 400)]),
    format("a New Relic key", &["NRAK-"], &[Run(Upper, 27, 27)]),
    format("a New Relic key", &["NRJS-"], &[Run(Hex, 19, 19)]),
    format("a New Relic key", &["NRII-"], &[Run(Word, 32, 32)]),
    format("a Sentry token", &["sntrys_"], &[Run(Base64, 60, 400), Text("_"), Run(Base64, 43, 44)]),
    format("a Sentry token", &["sntryu_"], &[Run(Hex, 64, 64)]),
    format(
        "a Dynatrace token",
        &["dt0c01.", "dt0s01.", "dt0s16."],
        &[Run(Upper, 8, 24), Text("."), Run(Upper, 64, 64)],
    ),
    format("a Honeycomb key", &["hcaik_", "hcaic_", "hcxik_"], &[Run(Alnum, 40, 64)]),
    format("a PostHog key", &["phx_"], &[Run(Alnum, 40, 50)]),
    format("a Linear key", &["lin_api_", "lin_oauth_"], &[Run(Alnum, 32, 64)]),
    format("a Notion token", &["ntn_"], &[Run(Digit, 11, 11), Run(Alnum, 32, 35)]),
    format("a Notion token", &["secret_"], &[Run(Alnum, 43, 43)]),
    format("an Airtable token", &["pat"], &[Run(Alnum, 14, 14), Text("."), Run(Hex, 64, 64)]),
    format("a Figma token", &["figd_", "figo_"], &[Run(Word, 38, 48)]),
    format("an Asana token", &["1/", "2/"], &[Run(Digit, 13, 20), Text(":"), Run(Hex, 32, 32)])
        .test(Test::RandomAfter(b':')),
    format("a Postman key", &["PMAK-"], &[Run(AnyHex, 24, 24), Text("-"), Run(AnyHex, 34, 34)]),
    format("a Contentful token", &["CFPAT-"], &[Run(Word, 43, 43)]),
    format("a Frame.io token", &["fio-u-"], &[Run(Dotted, 64, 64)]),
    format("a Typeform token", &["tfp_"], &[Run(Dotted, 40, 60)]),
    format("a ReadMe key", &["rdme_"], &[Run(Lower, 70, 72)]),
    format("a Dropbox token", &["sl.u.", "sl."], &[Run(Word, 130, 1300)]),
    format("a Doppler token", &["dp.pt.", "dp.ct.", "dp.sa.", "dp.scim.", "dp.audit."], &[Run(Alnum, 40, 44)]),
    format("a Doppler token", &["dp.st."], &[Run(Alnum, 40, 44)]),
    format("a Doppler token", &["dp.st."], &[Run(Word, 2, 35), Text("."), Run(Alnum, 40, 44)]),
    format(
        "a 1Password key",
        &["A3-"],
        &[
            Run(Upper, 6, 6),
            Text("-"),
            Run(Upper, 6, 11),
            Text("-"),
            Run(Upper, 5, 5),
            Text("-"),
            Run(Upper, 5, 5),
            Text("-"),
            Run(Upper, 5, 6),
        ],
    ),
    format("a 1Password token", &["ops_eyJ"], &[Run(Base64, 200, 2000)]),
    format("an age key", &["AGE-SECRET-KEY-1"], &[Run(Upper, 58, 58)]).test(Test::Spread),
    format("an Adobe secret", &["p8e-"], &[Run(Word, 32, 32)]),
    format("an Infracost key", &["ico-"], &[Run(Alnum, 32, 32)]),
    format("a 42 secret", &["s-s4t2ud-", "s-s4t2af-"], &[Run(Hex, 64, 64)]),
    format("a SettleMint token", &["sm_aat_", "sm_pat_", "sm_sat_"], &[Run(Alnum, 16, 16)]),
    format("a Defined Networking key", &["dnkey-"], &[Run(Dotted, 26, 26), Text("-"), Run(Dotted, 52, 52)]),
    format("a Mapbox token", &["sk.eyJ"], &[Run(Word, 40, 160), Text("."), Run(Word, 20, 24)]),
    format("a Deno Deploy token", &["ddp_", "ddo_"], &[Run(Alnum, 36, 40)]),
    format("a GitLab session", &["_gitlab_session="], &[Run(Hex, 32, 32)]),
    format("a Val Town token", &["vtwn_"], &[Run(Word, 26, 40)]),
    format("a Canva secret", &["cnvca"], &[Run(Word, 51, 51)]),
    format("a Pinterest token", &["pina_"], &[Run(Word, 40, 200)]),
    format("a WakaTime key", &["waka_"], &[Uuid]),
    format("a Rootly key", &["rootly_"], &[Run(Hex, 64, 64)]),
    format("an Unkey root key", &["unkey_"], &[Run(Alnum, 20, 32)]),
    format("a Lichess token", &["lip_"], &[Run(Alnum, 20, 60)]),
    format("an Aikido secret", &["AIK_SECRET_"], &[Run(Alnum, 64, 64)]),
    format("an Aikido token", &["AIK_CI_"], &[Run(Alnum, 20, 44)]),
    format("a ConfigCat key", &["configcat-sdk-1/"], &[Run(Word, 22, 22), Text("/"), Run(Word, 22, 22)]),
    format("a Samsara token", &["samsara_api_"], &[Run(Alnum, 26, 32)]),
    format("a MaxMind key", &["_mmk"], &[]).front(Word, 36, 36).test(Test::Shape),
    format("a LaunchDarkly key", &["sdk-", "api-"], &[Uuid]).near("launchdarkly"),
    format("a Snyk token", &["snyk_uat.", "snyk_sat."], &[Run(Hex, 8, 8), Text("."), Run(Dotted, 40, 200)]),
];

/// All of them; where several fit, the one that covers most tells the sort.
pub(super) fn all() -> impl Iterator<Item = &'static Format> {
    [CLOUD, CODE, MODELS, MESSAGES, PAYMENT, SERVICES].into_iter().flatten()
}
