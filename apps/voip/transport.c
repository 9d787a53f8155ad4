// SPDX-License-Identifier: Apache-2.0
// Libre's TLS verifies nothing by itself: this asks OpenSSL for it, by the context that libre
// makes.
#include "transport.h"

#include <errno.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <string.h>

#include "line.h"

struct ssl_ctx_st *tls_openssl_context(const struct tls *tls);

enum { NAME_SERVERS = 8 };

// OpenSSL's callbacks have no argument; a run has one agent.
static int refused;                      // an error of X.509; X509_V_OK: none
static char expected[SERVER_URI_BYTES];  // the name that the server's certificate must be of

const char *transport_refusal(const char **cure)
{
    *cure = "give the file of the authority that signed it as tls_ca";
    if (refused == X509_V_ERR_HOSTNAME_MISMATCH || refused == X509_V_ERR_IP_ADDRESS_MISMATCH)
        *cure = "write the server's name as its certificate has it";
    else if (refused == X509_V_ERR_CERT_HAS_EXPIRED || refused == X509_V_ERR_CERT_NOT_YET_VALID)
        *cure = "renew the server's certificate, and check the clock of this machine";
    return refused == X509_V_OK ? "" : X509_verify_cert_error_string(refused);
}

static int on_verified(int is_good, X509_STORE_CTX *store)
{
    if (!is_good)
        refused = X509_STORE_CTX_get_error(store);
    return is_good;
}

// Tells the server which name it is called by, as servers of many domains need.
static void on_handshake(const SSL *ssl, int where, int value)
{
    struct sa numeric;

    (void)value;
    if ((where & SSL_CB_HANDSHAKE_START) && sa_set_str(&numeric, expected, 0) != 0 &&
        !SSL_is_server(ssl) && !SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name))
        SSL_set_tlsext_host_name((SSL *)ssl, expected);
}

static int verify(SSL_CTX *context, const struct voip_server *server)
{
    X509_VERIFY_PARAM *wanted = SSL_CTX_get0_param(context);

    if (!server->verifies) {
        line_say("the server's certificate is not verified", "tls_verify is 0");
        return 0;
    }
    if (*server->ca == '\0' && SSL_CTX_set_default_verify_paths(context) != 1)
        return EINVAL;
    X509_VERIFY_PARAM_set_hostflags(wanted, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    if (X509_VERIFY_PARAM_set1_ip_asc(wanted, expected) != 1 &&
        X509_VERIFY_PARAM_set1_host(wanted, expected, 0) != 1)
        return EINVAL;
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, on_verified);
    return 0;
}

static int add_tls(struct sip *sip, const struct voip *voip, const struct sa *local)
{
    struct sa next = *local;
    struct tls *tls = NULL;
    int error = tls_alloc(&tls, TLS_METHOD_SSLV23, NULL, NULL);

    if (error)
        return error;
    SSL_CTX_set_min_proto_version(tls_openssl_context(tls), TLS1_2_VERSION);
    SSL_CTX_set_info_callback(tls_openssl_context(tls), on_handshake);
    if (*voip->server.ca != '\0')
        error = tls_add_ca(tls, voip->server.ca);
    if (error)
        line_say("tls_ca must be a PEM file of certificates", voip->server.ca);
    if (error == 0)
        error = verify(tls_openssl_context(tls), &voip->server);
    sa_set_port(&next, (uint16_t)(sa_port(local) + 1));
    if (error == 0)
        error = sip_transp_add(sip, SIP_TRANSP_TLS, &next, tls);
    mem_deref(tls);
    return error;
}

// The name of a URI that is reached by TLS.
static bool wants_tls(const char *text)
{
    struct pl all, transport;
    struct uri uri;

    pl_set_str(&all, text);
    return uri_decode(&uri, &all) == 0 &&
           msg_param_decode(&uri.params, "transport", &transport) == 0 &&
           pl_strcasecmp(&transport, "tls") == 0 &&
           pl_strcpy(&uri.host, expected, sizeof expected) == 0;
}

int transport_open(struct sip *sip, const struct voip *voip, const struct sa *local)
{
    int error = sip_transp_add(sip, SIP_TRANSP_UDP, local);

    if (error)
        return error;
    const int by_tcp = sip_transp_add(sip, SIP_TRANSP_TCP, local);
    if (by_tcp)
        line_say("listens by UDP alone: the port is not available for TCP", strerror(by_tcp));
    refused = X509_V_OK;
    if (wants_tls(voip->server.proxy) || wants_tls(voip->server.registrar) || wants_tls(voip->peer))
        error = add_tls(sip, voip, local);
    return error;
}

void transport_names(struct dnsc **names)
{
    struct sa servers[NAME_SERVERS];
    char domain[SERVER_URI_BYTES];
    uint32_t n = NAME_SERVERS;

    if (dns_srv_get(domain, sizeof domain, servers, &n) == 0 && n > 0)
        (void)dnsc_alloc(names, NULL, servers, n);
}
